package text

import (
	"fmt"
	"slices"
)

// spaceMark is the character that SentencePiece writes a space as.
const (
	spaceRune = '▁'
	spaceMark = string(spaceRune)
)

// definition is what a tokenizer is, in whatever file it came.
type definition struct {
	tokens []string // by id, as the file spells them; "": no such token
	added  []addedToken

	unk          int32 // stands for what has no token; none: that is dropped
	byteFallback bool  // but first the tokens of its bytes do

	scores []float64 // of the tokens, by id: the model is Unigram; nil: it is BPE

	merges       []mergePair      // in rank order, or
	pairs        map[pair]merge   // ready
	ignoreMerges bool             // of words that are a token, and
	whole        map[string]int32 // of these words, which are these tokens
	fuseUnk      bool

	normal         normalizers
	normalGrowth   growth
	pre            pipeline
	byteLevel      bool    // pre ends with the step after which characters stand for bytes
	prefix, suffix []int32 // what Encode puts around a text
	spell          spelling
	parts          int // read so far, of the sequences in the file
	patterns       int // bytes of the expressions, likewise
}

// maxAdded is the size in bytes of the longest added token: what may be looked
// at again at every place of a text.
const maxAdded = 512

// codec builds what encodes and decodes by d. vocab maps the tokens of the
// model to their ids.
func (d *definition) codec(vocab map[string]int32) (*Codec, error) {
	m, err := d.model(vocab)
	if err != nil {
		return nil, err
	}
	d.tokens = slices.Clone(d.tokens)
	c := &Codec{model: &cached{model: m}, normal: d.normal, pre: d.pre, prefix: d.prefix, suffix: d.suffix, unk: d.unk}
	var raw, normalized []addedToken
	until := patternsEnd("")
	for _, t := range d.added {
		if len(t.content) > maxAdded {
			return nil, fmt.Errorf("%w: added token %d has %d bytes", ErrUnsupported, t.id, len(t.content))
		}
		t.written = t.content
		if !t.normalized {
			raw = append(raw, t)
			continue
		}
		var ok bool
		if t.content, ok = c.normal.apply(t.content, until); !ok {
			return nil, fmt.Errorf("%w: added token %d has no end in the normalizer", ErrUnsupported, t.id)
		}
		normalized = append(normalized, t)
		d.tokens[t.id] = t.content // which is what it becomes in a text, too
	}
	c.raw, c.normalized = newMatcher(raw), newMatcher(normalized)
	c.texts = newTokenTexts(d)
	c.fill = d.fill(vocab)
	return c, nil
}

// fill is the tokens that the model writes for text that it has no token for.
func (d *definition) fill(vocab map[string]int32) map[int32]bool {
	fill := map[int32]bool{d.unk: true}
	if d.byteFallback {
		bytes, _ := newByteTokens(vocab, fallbackToken)
		for _, id := range bytes {
			fill[id] = true
		}
	}
	return fill
}

func (d *definition) model(vocab map[string]int32) (wordModel, error) {
	if d.scores == nil {
		d.cutAtSeams(vocab)
		return newBPE(d, vocab)
	}
	if d.byteLevel {
		return nil, fmt.Errorf("%w: Unigram behind ByteLevel", ErrUnsupported)
	}
	return newUnigram(d, vocab)
}

// cutAtSeams has words end where no merge reaches over. Where characters may be dropped, those
// beside them meet, and no place is known to be one.
func (d *definition) cutAtSeams(vocab map[string]int32) {
	_, marks := vocab[spaceMark]
	_, all := newByteTokens(vocab, fallbackToken)
	drops := d.unk == none && !(d.byteFallback && all)
	if marks && !d.byteLevel && !d.ignoreMerges && !drops {
		d.pre = append(slices.Clip(d.pre), step{next: newSeams(d, vocab).next})
	}
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
