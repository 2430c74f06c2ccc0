package text

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// metaspace is the component of that name, a pre-tokenizer and a decoder alike:
// spaces are written as another character, and one may be put before a text.
type metaspace struct {
	Type          string  `json:"type"`
	Replacement   string  `json:"replacement"`
	PrependScheme *string `json:"prepend_scheme"`   // always, first or never
	AddPrefix     *bool   `json:"add_prefix_space"` // in older files: always or never
	Split         *bool   `json:"split"`
	Str           *string `json:"str_rep"` // in older files: replacement again
}

// readMetaspace reads a metaspace, of which scheme is then how it prepends.
func readMetaspace(what string, raw json.RawMessage) (m metaspace, scheme string, err error) {
	if err := decodeStrict(what, raw, &m); err != nil {
		return m, "", err
	}
	if utf8.RuneCountInString(m.Replacement) != 1 {
		return m, "", fmt.Errorf("%w: Metaspace replacement %.40q is not one character", ErrMalformed, m.Replacement)
	}
	scheme = "always"
	if m.PrependScheme != nil {
		scheme = *m.PrependScheme
	}
	if m.AddPrefix != nil && !*m.AddPrefix {
		if m.PrependScheme != nil && scheme != "never" {
			return m, "", fmt.Errorf("%w: Metaspace add_prefix_space false and prepend_scheme %.40q", ErrMalformed, scheme)
		}
		scheme = "never"
	}
	switch scheme {
	case "always", "first", "never":
		return m, scheme, nil
	}
	return m, "", fmt.Errorf("%w: Metaspace prepend_scheme %.40q", ErrUnsupported, scheme)
}

// readMetaspaceStep reads the pre-tokenizer.
func (d *definition) readMetaspaceStep(raw json.RawMessage) error {
	m, scheme, err := readMetaspace("pre_tokenizer", raw)
	if err != nil {
		return err
	}
	s := step{before: func(s string, first bool) string {
		s = strings.ReplaceAll(s, " ", m.Replacement)
		if scheme == "never" || scheme == "first" && !first || strings.HasPrefix(s, m.Replacement) {
			return s
		}
		return m.Replacement + s
	}}
	if m.Split == nil || *m.Split {
		s.next = beforeNext(m.Replacement)
	}
	return d.addStep(s)
}

// beforeNext cuts before every mark.
func beforeNext(mark string) func(string) int {
	return func(s string) int {
		start := 0
		if strings.HasPrefix(s, mark) {
			start = len(mark)
		}
		if i := strings.Index(s[start:], mark); i >= 0 {
			return start + i
		}
		return len(s)
	}
}
