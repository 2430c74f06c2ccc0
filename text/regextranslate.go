package text

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// translator rewrites a pattern of Oniguruma (doc/RE, Ruby's syntax) for regexp2,
// which has the syntax of .NET. Classes of characters are written out, as both have
// other versions of Unicode; so are upper and lower case. What the two do not share
// is an error.
type translator struct {
	rest string
	out  []byte
	atom int     // where the last thing that can be repeated starts in out; -1: nothing can
	open []group // groups that are open
	fold bool    // case is ignored
}

type group struct {
	at   int  // where it starts in out
	fold bool // as it was before
}

func translate(pattern string) (string, error) {
	t := &translator{rest: pattern, atom: -1}
	for t.rest != "" {
		if err := t.next(); err != nil {
			return "", err
		}
	}
	if len(t.open) > 0 {
		return "", errors.New("an open group")
	}
	return string(t.out), nil
}

// next translates what comes next.
func (t *translator) next() error {
	switch c := t.rest[0]; c {
	case '(':
		return t.openGroup()
	case ')':
		return t.closeGroup()
	case '[':
		return t.class()
	case '\\':
		return t.escape()
	case '*', '+', '?', '{':
		return t.repeat()
	case '|':
		t.take(1)
		t.out, t.atom = append(t.out, '|'), -1
	case '^', '$': // the ends of lines too, in Ruby
		t.take(1)
		t.out, t.atom = append(t.out, "(?m:"+string(c)+")"...), -1
	case '.':
		t.take(1)
		t.emit(`[^\n]`)
	default:
		r, n := utf8.DecodeRuneInString(t.rest)
		t.take(n)
		return t.literal(r)
	}
	return nil
}

// take is the next n bytes of the pattern.
func (t *translator) take(n int) string {
	taken := t.rest[:n]
	t.rest = t.rest[n:]
	return taken
}

// emit appends something that can be repeated.
func (t *translator) emit(s string) {
	t.atom = len(t.out)
	t.out = append(t.out, s...)
}

// literal appends a character that stands for itself.
func (t *translator) literal(r rune) error {
	if !t.fold {
		t.emit(quote(r))
		return nil
	}
	set := &classSet{}
	set.add(r, r)
	if err := set.foldCase(); err != nil {
		return err
	}
	t.emit(set.String())
	return nil
}

// groupKinds are the groups that both engines read alike.
var groupKinds = []string{"(?:", "(?=", "(?!", "(?<=", "(?<!", "(?>"}

func (t *translator) openGroup() error {
	t.open = append(t.open, group{len(t.out), t.fold})
	t.atom = -1
	for _, kind := range groupKinds {
		if strings.HasPrefix(t.rest, kind) {
			t.out = append(t.out, t.take(len(kind))...)
			return nil
		}
	}
	switch {
	case strings.HasPrefix(t.rest, "(?i:"), strings.HasPrefix(t.rest, "(?-i:"):
		t.fold = t.rest[2] == 'i'
		t.take(strings.IndexByte(t.rest, ':') + 1)
	case strings.HasPrefix(t.rest, "(?i)"): // up to the end of the group that it is in
		t.take(len("(?i)"))
		t.open, t.fold = t.open[:len(t.open)-1], true
		return nil
	case strings.HasPrefix(t.rest, "(?"):
		return fmt.Errorf("group %.5q", t.rest)
	default:
		t.take(1)
	}
	t.out = append(t.out, "(?:"...)
	return nil
}

func (t *translator) closeGroup() error {
	last := len(t.open) - 1
	if last < 0 {
		return errors.New("a group that is closed and not open")
	}
	t.take(1)
	t.out = append(t.out, ')')
	t.atom, t.fold = t.open[last].at, t.open[last].fold
	t.open = t.open[:last]
	return nil
}

// repeat translates a quantifier. One with a + behind it never gives back what it
// has taken.
func (t *translator) repeat() error {
	n := 1
	if t.rest[0] == '{' {
		if n = countedLength(t.rest); n == 0 {
			t.take(1)
			t.emit(`\{`)
			return nil
		}
	}
	if t.atom < 0 {
		return errors.New("a quantifier behind nothing")
	}
	t.out = append(t.out, t.take(n)...)
	switch {
	case strings.HasPrefix(t.rest, "?"):
		t.out = append(t.out, t.take(1)...)
	case strings.HasPrefix(t.rest, "+"):
		if n > 1 {
			return errors.New("a quantifier {n,m}+")
		}
		t.take(1)
		atom := string(t.out[t.atom:])
		t.out = append(append(append(t.out[:t.atom], "(?>"...), atom...), ')')
	}
	if t.rest != "" && (strings.ContainsRune("*+?", rune(t.rest[0])) || countedLength(t.rest) > 0) {
		return errors.New("a quantifier of a quantifier")
	}
	t.atom = -1
	return nil
}

// countedLength is the length of the quantifier {n}, {n,} or {n,m} that s starts
// with; 0: none.
func countedLength(s string) int {
	end := strings.IndexByte(s, '}')
	if end < 2 || s[0] != '{' || s[1] == ',' {
		return 0
	}
	if strings.Trim(s[1:end], "0123456789,") != "" || strings.Count(s[:end], ",") > 1 {
		return 0
	}
	return end + 1
}
