package text

// Decoder turns ids into text as they come. It never gives half a character:
// bytes that may be the start of one, 3 at most, wait for the next id. What it
// gives is together what Codec.Decode gives for all ids at once, however they
// are dealt out. It belongs to one goroutine.
type Decoder struct {
	texts   *tokenTexts
	pending []byte // start of a character
	out     []byte // reused
}

// NewDecoder makes a decoder for one text.
func (c *Codec) NewDecoder() *Decoder {
	return &Decoder{texts: c.texts}
}

// Push takes the next ids and gives the text that is complete with them, often
// "". Special tokens and tokens that end a text are not shown.
func (d *Decoder) Push(ids []int32) string {
	for _, id := range ids {
		d.pending = append(d.pending, d.texts.shown(id)...)
	}
	return string(d.take(false))
}

// Flush ends the text: a character of which only the start came is U+FFFD.
func (d *Decoder) Flush() string { return string(d.flush()) }

// next is Push of one id. The text is valid until the next call.
func (d *Decoder) next(id int32) []byte {
	d.pending = append(d.pending, d.texts.shown(id)...)
	return d.take(false)
}

// flush is Flush. The text is valid until the next call.
func (d *Decoder) flush() []byte { return d.take(true) }

func (d *Decoder) take(final bool) []byte {
	var rest []byte
	d.out, rest = appendValid(d.out[:0], d.pending, final)
	d.pending = append(d.pending[:0], rest...)
	return d.out
}
