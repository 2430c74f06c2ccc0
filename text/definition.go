package text

import "fmt"

// definition is what a tokenizer is, in whatever file it came.
type definition struct {
	tokens []string // by id, in the byte-level alphabet but for added ones; "": no such token
	added  []addedToken

	merges       []mergePair // in rank order
	ignoreMerges bool
	unk          int32 // none: bytes without a token are dropped
	fuseUnk      bool

	nfc            bool // text is brought to NFC
	pre            pipeline
	byteLevel      bool    // pre ends with the step after which characters stand for bytes
	prefix, suffix []int32 // what Encode puts around a text
	parts          int     // read so far, of the sequences in the file
}

// maxAdded is the size in bytes of the longest added token: what may be looked
// at again at every place of a text.
const maxAdded = 512

// codec builds what encodes and decodes by d. vocab maps the tokens of the
// model to their ids, in the byte-level alphabet.
func (d *definition) codec(vocab map[string]int32) (*Codec, error) {
	model, err := newBPE(d, vocab)
	if err != nil {
		return nil, err
	}
	c := &Codec{model: model, nfc: d.nfc, pre: d.pre, prefix: d.prefix, suffix: d.suffix}
	var raw, normalized []addedToken
	for _, t := range d.added {
		if len(t.content) > maxAdded {
			return nil, fmt.Errorf("%w: added token %d has %d bytes", ErrUnsupported, t.id, len(t.content))
		}
		if t.normalized {
			t.content = c.normalize(t.content)
			normalized = append(normalized, t)
		} else {
			raw = append(raw, t)
		}
	}
	c.raw, c.normalized = newMatcher(raw), newMatcher(normalized)
	c.texts = newTokenTexts(d)
	return c, nil
}

// checkID is an error for an id that no vocabulary of entries tokens would
// have. Files may leave holes between ids, but not such that a small file asks
// for a large table.
func checkID(id int32, entries int) error {
	const holes = 1 << 16
	if id < 0 || int(id) >= entries+holes {
		return fmt.Errorf("%w: token id %d with only %d tokens", ErrMalformed, id, entries)
	}
	return nil
}
