package text

import (
	"bytes"
	"strings"
)

// Decoder turns ids into text as they come. It never gives half a character:
// bytes that may be the start of one, 3 at most, wait for the next id. What it
// gives is together what Codec.Decode gives for all ids at once, however they
// are dealt out. It belongs to one goroutine.
type Decoder struct {
	texts   *tokenTexts
	all     bool   // hidden tokens are shown too
	started bool   // a token was shown
	strip   int    // how often the text may still start with what it is not to start with
	pending []byte // start of a character
	out     []byte // reused
}

// NewDecoder makes a decoder for one text.
func (c *Codec) NewDecoder() *Decoder {
	return &Decoder{texts: c.texts, strip: c.texts.limit}
}

// After says, before the first Push, that the text goes on behind a prompt, so that a
// space which a text would not start with is kept where the prompt has a text.
func (d *Decoder) After(prompt []int32) {
	for _, id := range prompt {
		if d.started && d.strip == 0 {
			break
		}
		d.next(id)
	}
	d.pending = d.pending[:0]
}

// Push takes the next ids and gives the text that is complete with them, often
// "". Special tokens and tokens that end a text are not shown.
func (d *Decoder) Push(ids []int32) string {
	for _, id := range ids {
		d.add(id)
	}
	return string(d.take(false))
}

// Flush ends the text: a character of which only the start came is U+FFFD.
func (d *Decoder) Flush() string { return string(d.flush()) }

// next is Push of one id. The text is valid until the next call.
func (d *Decoder) next(id int32) []byte {
	d.add(id)
	return d.take(false)
}

// flush is Flush. The text is valid until the next call.
func (d *Decoder) flush() []byte { return d.take(true) }

func (d *Decoder) add(id int32) {
	text := d.texts.shown(id)
	if d.all {
		text = d.texts.of(id)
	}
	if !d.started && text != nil {
		d.started = true
		text = d.texts.opening(id, text)
	}
	d.pending = append(d.pending, text...)
}

func (d *Decoder) take(final bool) []byte {
	var rest []byte
	d.out, rest = appendValid(d.out[:0], d.pending, final)
	d.pending = append(d.pending[:0], rest...)
	text := d.out
	for d.strip > 0 && len(text) > 0 {
		less := bytes.TrimPrefix(text, []byte(d.texts.lead))
		if len(less) == len(text) {
			d.strip = 0
			break
		}
		text = less
		d.strip--
	}
	return text
}

// opening is what a token adds where a text starts: with Metaspace, nothing of the
// first token is a space.
func (t *tokenTexts) opening(id int32, text []byte) []byte {
	if !t.firstBare {
		return text
	}
	if bare, ok := t.bare[id]; ok {
		return bare
	}
	return bytes.ReplaceAll(text, []byte(" "), nil)
}

// setBare remembers what tokens that have a space beside the marks of spaces, or stand
// for a byte, add where a text starts.
func (t *tokenTexts) setBare(d *definition) {
	t.firstBare, t.bare = d.spell.first, make(map[int32][]byte)
	if !t.firstBare {
		return
	}
	for id, token := range d.tokens {
		if _, isByte := fromFallback(token); isByte || strings.Contains(token, " ") {
			t.bare[int32(id)] = d.spell.of(strings.ReplaceAll(token, d.spell.lead, ""))
		}
	}
}
