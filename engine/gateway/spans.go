package gateway

import "github.com/cbactor/cbactor/engine"

// appendSpans lets the spans of the tokens so far go on to end: as a chunk tells, or, where it
// tells nothing, with the version of the token before.
func appendSpans(spans, told []engine.VersionSpan, end int) []engine.VersionSpan {
	for _, s := range told {
		if n := len(spans); n > 0 && spans[n-1].Version == s.Version {
			spans[n-1].End = s.End
		} else {
			spans = append(spans, s)
		}
	}
	if n := len(spans); n > 0 {
		spans[n-1].End = end
	}
	return spans
}

// cut is the part of spans that lies from start on and before end, which they reach over.
func cut(spans []engine.VersionSpan, start, end int) (part []engine.VersionSpan) {
	for _, s := range spans {
		if s.Start, s.End = max(s.Start, start), min(s.End, end); s.Start < s.End {
			part = append(part, s)
		}
	}
	return part
}
