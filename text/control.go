package text

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
	"time"
	"unicode"

	"github.com/cbactor/cbactor/text/jinja"
)

// guard keeps control tokens to the chat template: what a conversation spells like one
// stays text. Control tokens are the special ones and, as Transformers has it for
// sanitize_control_tokens, added tokens that the template's own text has.
type guard struct {
	control map[int32]bool
	words   map[int32]bool // those that no word of a rendering may become

	// Where control tokens are looked for in normalised text: there, nobody knows any
	// more who wrote what, and these look for them in the text as it is written. nil:
	// there are none.
	raw, normalized *matcher
}

// maxRendered is the size in bytes of the longest rendering that is encoded: some two
// million tokens, where the memory to encode it is a multiple of it.
const maxRendered = 8 << 20

// useTemplate gives the codec its chat template.
func (c *Codec) useTemplate(source, bos, eos string) {
	c.chat = newChatTemplate(source, bos, eos)
	if c.chat.compiled == nil {
		return
	}
	literals := strings.Join(c.chat.compiled.Literals(), "\x00")
	normal, _ := c.normal.apply(literals, patternsEnd(literals))
	g := &guard{control: make(map[int32]bool)}
	isControl := func(t addedToken) bool {
		blank := strings.TrimFunc(t.written, unicode.IsSpace) == ""
		return t.special || !blank && (strings.Contains(literals, t.written) ||
			t.normalized && strings.Contains(normal, t.content))
	}
	raw, rest := append([]addedToken{}, c.raw.tokens...), []addedToken(nil)
	for _, t := range c.raw.tokens {
		if isControl(t) {
			g.control[t.id] = true
		}
	}
	for _, t := range c.normalized.tokens {
		if isControl(t) {
			g.control[t.id] = true
			raw = append(raw, t) // a template may write either form
			t.content = t.written
			raw = append(raw, t)
		} else {
			rest = append(rest, t)
		}
	}
	if len(raw) > len(c.raw.tokens) {
		g.raw, g.normalized = newMatcher(raw), newMatcher(rest)
	}
	g.words = maps.Clone(g.control)
	maps.DeleteFunc(g.words, func(id int32, _ bool) bool { return c.fill[id] })
	c.guard = g
}

// encodeRendered is the token ids of what a chat template rendered. Errors:
// ErrControlToken, ErrPattern, ErrTooLong.
func (c *Codec) encodeRendered(text jinja.Text) ([]int32, error) {
	if n := len(text.String()); n > maxRendered {
		return nil, fmt.Errorf("%w: %d bytes, at most %d are encoded", ErrTooLong, n, maxRendered)
	}
	if len(text.Foreign()) == 0 {
		ids := c.EncodeRaw(text.String())
		if ids == nil {
			return nil, ErrPattern
		}
		return ids, nil
	}
	until := patternsEnd(text.String())
	ids, made := []int32{}, int32(none) // a control token that cannot be written otherwise
	word := func(w string) {
		from := len(ids)
		ids = c.model.appendWord(ids, w)
		if id := c.controlOf(ids[from:]); id != none {
			plain := c.model.appendAnew(nil, w, c.guard.words)
			if c.controlOf(plain) != none || c.unknown(plain) > c.unknown(ids[from:]) {
				made = id
			}
			ids = append(ids[:from], plain...)
		}
	}
	ok := c.watching(text, until).cut(text.String(), until, func(s string, first bool) bool {
		return c.pre.words(s, first, until, word)
	}, func(id int32) { ids = append(ids, id) })
	switch {
	case !ok:
		return nil, ErrPattern
	case made != none:
		return nil, fmt.Errorf("%w: %q", ErrControlToken, c.texts.of(made))
	}
	return ids, nil
}

// controlOf is a control token among those of a word; none: there is none.
func (c *Codec) controlOf(ids []int32) int32 {
	for _, id := range ids {
		if c.guard.words[id] {
			return id
		}
	}
	return none
}

// unknown is how many tokens stand for text without one.
func (c *Codec) unknown(ids []int32) (n int) {
	for _, id := range ids {
		if id == c.unk {
			n++
		}
	}
	return n
}

// watching is c for one rendering, of which it finds the control tokens of the
// template alone.
func (c *Codec) watching(text jinja.Text, until time.Time) *Codec {
	allow := func(t *addedToken, start, stop int) bool {
		return !c.guard.control[t.id] || !touches(text.Foreign(), start, stop)
	}
	asRead := *c
	asRead.raw = c.raw.allowing(allow)
	if c.guard.raw == nil {
		return &asRead
	}
	asWritten := *c
	asWritten.raw, asWritten.normalized = c.guard.raw.allowing(allow), c.guard.normalized
	if asRead.outline(text.String(), until).equal(asWritten.outline(text.String(), until)) {
		return &asRead
	}
	return &asWritten
}

// outline is the added tokens of a text and the normalised text around them, one more.
type outline struct {
	tokens  []int32
	between []string
}

// outline is that of a text; where a pattern has no end it ends early.
func (c *Codec) outline(text string, until time.Time) outline {
	o := outline{between: []string{""}}
	c.cut(text, until, func(s string, _ bool) bool {
		o.between[len(o.tokens)] += s
		return true
	}, func(id int32) {
		o.tokens, o.between = append(o.tokens, id), append(o.between, "")
	})
	return o
}

// equal says whether two are the same but for the white space beside the tokens,
// which a normalizer adds or takes away where a text starts or ends.
func (o outline) equal(p outline) bool {
	trim := func(s string) string {
		return strings.TrimFunc(s, func(r rune) bool { return unicode.IsSpace(r) || string(r) == spaceMark })
	}
	return slices.Equal(o.tokens, p.tokens) && slices.EqualFunc(o.between, p.between, func(a, b string) bool {
		return trim(a) == trim(b)
	})
}

// touches says whether a byte from start up to stop is in one of the spans, which are
// in ascending order.
func touches(spans []jinja.Span, start, stop int) bool {
	i := sort.Search(len(spans), func(i int) bool { return spans[i].To > start })
	return i < len(spans) && spans[i].From < stop
}
