package text

import (
	"strings"
	"unicode"
)

// stepName is the callable that addSteps puts into templates.
const stepName = "cbactor_step"

// addSteps puts a call of stepName, which prints nothing, at the start of every
// loop body and macro body of a Jinja source. Tags are found as the library
// finds them. White space stays as it is, as only statements trim it. A source
// that does not scan is left as it is for the library to refuse.
func addSteps(source string) string {
	var b strings.Builder
	raw := false
	for {
		start, end := nextTag(source)
		if end < 0 {
			b.WriteString(source)
			return b.String()
		}
		tag := source[start:end]
		b.WriteString(source[:end])
		source = source[end:]
		switch keyword := tagKeyword(tag); {
		case keyword == "raw":
			raw = true
		case keyword == "endraw":
			raw = false
		case !raw && (keyword == "for" || keyword == "macro"):
			b.WriteString("{{ " + stepName + "() }}")
		}
	}
}

// nextTag finds the first tag in source, {{…}}, {%…%} or {#…#}; end is -1 if
// there is none. Quotes hide what ends a tag, but not in comments.
func nextTag(source string) (start, end int) {
	for start = 0; start+1 < len(source); start++ {
		if source[start] != '{' {
			continue
		}
		switch source[start+1] {
		case '{':
			return start, tagEnd(source, start+2, "}}")
		case '%':
			return start, tagEnd(source, start+2, "%}")
		case '#':
			return start, tagEnd(source, start+2, "#}")
		}
	}
	return 0, -1
}

// tagEnd is where the tag ends that closer closes, from source[i] on; -1: it
// does not.
func tagEnd(source string, i int, closer string) int {
	for i < len(source) {
		if strings.HasPrefix(source[i:], closer) {
			return i + len(closer)
		}
		quote := source[i]
		i++
		if closer == "#}" || quote != '\'' && quote != '"' {
			continue
		}
		for i < len(source) && source[i] != quote {
			if source[i] == '\\' {
				i++
			}
			i++
		}
		i++
	}
	return -1
}

// tagKeyword is the first word of a statement, "" of other tags.
func tagKeyword(tag string) string {
	if tag[1] != '%' {
		return ""
	}
	inside := strings.TrimSpace(strings.TrimPrefix(tag[2:], "-"))
	end := strings.IndexFunc(inside, func(r rune) bool { return !unicode.IsLetter(r) && r != '_' })
	return inside[:max(end, 0)]
}
