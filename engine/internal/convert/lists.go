package convert

import (
	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/messages"
)

// IDs is a list that may be unset: nil is, an empty one is not.
func IDs(list []int32) *messages.IdList {
	if list == nil {
		return nil
	}
	return &messages.IdList{Ids: list}
}

// IDsOf reads a list that may be unset.
func IDsOf(m *messages.IdList) []int32 {
	if m == nil {
		return nil
	}
	if m.GetIds() == nil {
		return []int32{}
	}
	return m.GetIds()
}

// Spans are the versions of stretches of tokens.
func Spans(list []engine.VersionSpan) []*messages.Span {
	if len(list) == 0 {
		return nil
	}
	out := make([]*messages.Span, len(list))
	for i, s := range list {
		out[i] = &messages.Span{Version: s.Version, Start: uint32(s.Start), End: uint32(s.End)}
	}
	return out
}

// SpansOf reads them: each begins where the one before ends, or later, and none is empty. An
// empty list is nil.
func SpansOf(list []*messages.Span) ([]engine.VersionSpan, error) {
	if len(list) == 0 {
		return nil, nil
	}
	out, at := make([]engine.VersionSpan, len(list)), uint32(0)
	for i, s := range list {
		if s.GetStart() < at || s.GetEnd() <= s.GetStart() || s.GetEnd() > maxTokens {
			return nil, malformed("span %d is from %d to %d, behind %d", i, s.GetStart(), s.GetEnd(), at)
		}
		at = s.GetEnd()
		out[i] = engine.VersionSpan{Version: s.GetVersion(), Start: int(s.GetStart()), End: int(at)}
	}
	return out, nil
}

// maxTokens bounds places in a sequence.
const maxTokens = 1<<31 - 1
