package text

import (
	"fmt"
	"sort"
	"strings"
	"unicode"

	"github.com/cbactor/cbactor/text/jinja"
)

// guard keeps control tokens to the chat template: what a conversation spells like one
// stays text. Control tokens are the special ones and, as Transformers has it for
// sanitize_control_tokens, added tokens that the template's own text has.
type guard struct {
	control map[int32]bool

	// For a conversation that spells control tokens which are looked for in normalised
	// text: there, nobody knows any more who wrote what, so that they are looked for in
	// the text as it is written.
	raw, normalized *matcher
	moved           []addedToken // those that raw has and Codec.raw has not
}

// useTemplate gives the codec its chat template.
func (c *Codec) useTemplate(source, bos, eos string) {
	c.chat = newChatTemplate(source, bos, eos)
	if c.chat.compiled == nil {
		return
	}
	literals := strings.Join(c.chat.compiled.Literals(), "\x00")
	g := &guard{control: make(map[int32]bool)}
	isControl := func(t addedToken) bool {
		blank := strings.TrimFunc(t.content, unicode.IsSpace) == ""
		return t.special || !blank && strings.Contains(literals, t.content)
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
			g.moved = append(g.moved, t)
			raw = append(raw, t)
		} else {
			rest = append(rest, t)
		}
	}
	g.raw, g.normalized = c.raw, c.normalized
	if len(g.moved) > 0 {
		g.raw, g.normalized = newMatcher(raw), newMatcher(rest)
	}
	c.guard = g
}

// encodeRendered is the token ids of what a chat template rendered. Errors:
// ErrControlToken.
func (c *Codec) encodeRendered(text jinja.Text) ([]int32, error) {
	if len(text.Foreign()) == 0 {
		return c.EncodeRaw(text.String()), nil
	}
	watched := *c
	if c.guard.spells(c, text) {
		watched.raw, watched.normalized = c.guard.raw, c.guard.normalized
	}
	left, taken := make(map[int32]string), make(map[int32]int)
	watched.raw = watched.raw.allowing(func(t *addedToken, start, stop int) bool {
		if !c.guard.control[t.id] {
			return true
		}
		if touches(text.Foreign(), start, stop) {
			left[t.id] = t.content
			return false
		}
		taken[t.id]++
		return true
	})
	ids := watched.EncodeRaw(text.String())
	for _, id := range ids {
		if content, ok := left[id]; ok {
			if taken[id]--; taken[id] < 0 {
				return nil, fmt.Errorf("%w: %q", ErrControlToken, content)
			}
		}
	}
	return ids, nil
}

// spells says whether foreign text may have a control token that is looked for in
// normalised text: whether that has others than the template wrote.
func (g *guard) spells(c *Codec, text jinja.Text) bool {
	if len(g.moved) == 0 {
		return false
	}
	own, all := 0, 0
	written := newMatcher(g.moved)
	written.allowing(func(_ *addedToken, start, stop int) bool {
		if !touches(text.Foreign(), start, stop) {
			own++
		}
		return true
	}).split(text.String(), func(string, int) {}, func(int32) {})
	normal, ok := c.normal.apply(text.String())
	written.split(normal, func(string, int) {}, func(int32) { all++ })
	return !ok || all != own
}

// touches says whether a byte from start up to stop is in one of the spans, which are
// in ascending order.
func touches(spans []jinja.Span, start, stop int) bool {
	i := sort.Search(len(spans), func(i int) bool { return spans[i].To > start })
	return i < len(spans) && spans[i].From < stop
}
