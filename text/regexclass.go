package text

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// classSet is a set of characters as the ranges that it has, in any order.
type classSet struct {
	ranges [][2]rune
	not    bool
}

func (c *classSet) add(low, high rune) { c.ranges = append(c.ranges, [2]rune{low, high}) }

// addTable adds the characters of a table, or all others.
func (c *classSet) addTable(table *unicode.RangeTable, not bool) {
	all := tableRanges(table)
	if not {
		all = complement(all)
	}
	c.ranges = append(c.ranges, all...)
}

// foldCase adds the other case of letters, which must be of ASCII: the long s and the
// sign of Kelvin are theirs.
func (c *classSet) foldCase() error {
	for _, r := range slices.Clone(c.ranges) {
		if r[1] >= utf8.RuneSelf && r[1]-r[0] < 64 {
			return errors.New("letters beyond ASCII whose case is ignored")
		}
		for low := max(r[0], 'A'); low <= min(r[1], 'z'); low++ {
			if lower := low | 0x20; lower >= 'a' && lower <= 'z' {
				c.add(low^0x20, low^0x20)
				switch lower {
				case 's':
					c.add('ſ', 'ſ')
				case 'k':
					c.add('\u212a', '\u212a')
				}
			}
		}
	}
	return nil
}

// String is the class in a pattern.
func (c *classSet) String() string {
	var b strings.Builder
	b.WriteString("[")
	if c.not {
		b.WriteString("^")
	}
	for _, r := range c.ranges {
		b.WriteString(quote(r[0]))
		if r[1] > r[0] {
			b.WriteString("-" + quote(r[1]))
		}
	}
	b.WriteString("]")
	return b.String()
}

// quote is a character that stands for itself, in a class too.
func quote(r rune) string {
	switch {
	case r < ' ' || r == 0x7f:
		return fmt.Sprintf(`\u%04x`, r)
	case r < utf8.RuneSelf && !(r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z' || r == ' ' || r == '_'):
		return `\` + string(r)
	}
	return string(r)
}

// tableRanges are the ranges of a table, ascending; of nil none.
func tableRanges(table *unicode.RangeTable) [][2]rune {
	var all [][2]rune
	if table == nil {
		return nil
	}
	add := func(low, high, stride rune) {
		if stride == 1 {
			all = append(all, [2]rune{low, high})
			return
		}
		for r := low; r <= high; r += stride {
			all = append(all, [2]rune{r, r})
		}
	}
	for _, r := range table.R16 {
		add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
	}
	for _, r := range table.R32 {
		add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
	}
	return all
}

// complement is what some ascending ranges leave out; half characters are no text.
func complement(ranges [][2]rune) [][2]rune {
	var all [][2]rune
	add := func(low, high rune) {
		if low >= 0xD800 && low <= 0xDFFF {
			low = 0xE000
		}
		if high >= 0xD800 && high <= 0xDFFF {
			high = 0xD7FF
		}
		if low <= high {
			all = append(all, [2]rune{low, high})
		}
	}
	next := rune(0)
	for _, r := range ranges {
		add(next, r[0]-1)
		next = r[1] + 1
	}
	add(next, unicode.MaxRune)
	return all
}

// class translates a class in brackets.
func (t *translator) class() error {
	set := &classSet{}
	t.take(1)
	if strings.HasPrefix(t.rest, "^") {
		t.take(1)
		set.not = true
	}
	for first := true; ; first = false {
		switch {
		case t.rest == "":
			return errors.New("an open class")
		case t.rest[0] == ']' && !first:
			t.take(1)
			if t.fold {
				if err := set.foldCase(); err != nil {
					return err
				}
			}
			t.emit(set.String())
			return nil
		case t.rest[0] == ']', t.rest[0] == '[', strings.HasPrefix(t.rest, "&&"):
			return errors.New("a class within a class")
		}
		if err := t.member(set); err != nil {
			return err
		}
	}
}

// member adds what comes next in a class: a character, a range, or a class by name.
func (t *translator) member(set *classSet) error {
	low, named, err := t.char(set)
	if err != nil || named {
		return err
	}
	if len(t.rest) < 2 || t.rest[0] != '-' || t.rest[1] == ']' {
		set.add(low, low)
		return nil
	}
	t.take(1)
	high, named, err := t.char(set)
	if err != nil {
		return err
	}
	if named || high < low || t.rest == "" {
		return errors.New("a range that ends before it starts")
	}
	set.add(low, high)
	return nil
}

// char is the next character in a class; named: it was a class with a name, which is
// added to set.
func (t *translator) char(set *classSet) (r rune, named bool, err error) {
	if t.rest[0] == '[' {
		return 0, false, errors.New("a class within a class")
	}
	if t.rest[0] != '\\' {
		r, n := utf8.DecodeRuneInString(t.rest)
		t.take(n)
		return r, false, nil
	}
	table, not, err := t.namedClass()
	if err != nil || table != nil {
		if table != nil {
			set.addTable(table, not)
		}
		return 0, true, err
	}
	r, err = t.escaped()
	return r, false, err
}

// escape translates what a backslash starts outside of a class.
func (t *translator) escape() error {
	table, not, err := t.namedClass()
	if err != nil {
		return err
	}
	if table != nil {
		set := &classSet{not: not}
		set.addTable(table, false)
		t.emit(set.String())
		return nil
	}
	if strings.HasPrefix(t.rest, `\b`) || strings.HasPrefix(t.rest, `\B`) {
		word := &classSet{}
		word.addTable(wordTable(), false)
		w := word.String()
		boundary := "(?:(?<=" + w + ")(?!" + w + ")|(?<!" + w + ")(?=" + w + "))"
		if t.take(2) == `\B` {
			boundary = "(?!" + boundary + ")"
		}
		t.out, t.atom = append(t.out, boundary...), -1
		return nil
	}
	r, err := t.escaped()
	if err != nil {
		return err
	}
	return t.literal(r)
}

// namedClass is the class that a backslash and a letter name; nil: they name none.
func (t *translator) namedClass() (table *unicode.RangeTable, not bool, err error) {
	if len(t.rest) < 2 {
		return nil, false, errors.New("a backslash at the end")
	}
	switch c := t.rest[1]; c {
	case 'w', 'W':
		t.take(2)
		return wordTable(), c == 'W', nil
	case 'd', 'D':
		t.take(2)
		return classTable("Nd"), c == 'D', nil
	case 's', 'S':
		t.take(2)
		return unicode.White_Space, c == 'S', nil
	case 'p', 'P':
		end := strings.IndexByte(t.rest, '}')
		if end < 4 || t.rest[2] != '{' {
			return nil, false, fmt.Errorf("class %.8q", t.rest)
		}
		name := t.take(end + 1)[3:end]
		if strings.HasPrefix(name, "^") {
			name, not = name[1:], true
		}
		if table = classTable(name); table == nil {
			return nil, false, fmt.Errorf("class %.40q", name)
		}
		return table, not != (c == 'P'), nil
	}
	return nil, false, nil
}

// escaped is the character that a backslash and what follows stand for.
func (t *translator) escaped() (rune, error) {
	c := t.rest[1]
	if i := strings.IndexByte("ntrfvae", c); i >= 0 {
		t.take(2)
		return rune("\n\t\r\f\v\a\x1b"[i]), nil
	}
	digits := map[byte]int{'x': 2, 'u': 4}[c]
	switch {
	case digits > 0 && len(t.rest) >= 2+digits:
		n, err := strconv.ParseUint(t.rest[2:2+digits], 16, 32)
		if err != nil || c == 'x' && n >= utf8.RuneSelf || n >= 0xD800 && n <= 0xDFFF { // \x80 is a byte
			return 0, fmt.Errorf("escape %.8q", t.rest)
		}
		t.take(2 + digits)
		return rune(n), nil
	case c >= utf8.RuneSelf, c >= '0' && c <= '9', c|0x20 >= 'a' && c|0x20 <= 'z':
		return 0, fmt.Errorf("escape %.2q", t.rest)
	}
	t.take(2)
	return rune(c), nil
}
