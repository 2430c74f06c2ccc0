package text

import "slices"

// tokenTexts are the bytes that every token stands for.
type tokenTexts struct {
	bytes  []byte   // of all tokens, one after the other
	ends   []uint32 // by id, where a token's bytes end
	hidden []bool   // by id, not shown: special tokens and those that end a text
	also   []int32  // ids that are not shown either, few

	lead      string           // what a text does not start with,
	limit     int              // so many times
	firstBare bool             // the first token of a text has no spaces
	bare      map[int32][]byte // then, of those tokens that have other spaces
}

// newTokenTexts spells the tokens. In the byte-level alphabet added tokens are text
// as they are, and so is one with a character that is not in the alphabet.
func newTokenTexts(d *definition) *tokenTexts {
	t := &tokenTexts{ends: make([]uint32, len(d.tokens)), hidden: make([]bool, len(d.tokens))}
	t.lead, t.limit = d.spell.lead, d.spell.limit
	verbatim := make(map[int32]bool, len(d.added))
	for _, a := range d.added {
		verbatim[a.id] = d.spell.bytes
		t.hidden[a.id] = a.special
	}
	for id, token := range d.tokens {
		if verbatim[int32(id)] {
			t.bytes = append(t.bytes, token...)
		} else {
			t.bytes = append(t.bytes, d.spell.of(token)...)
		}
		t.ends[id] = uint32(len(t.bytes))
	}
	t.setBare(d)
	return t
}

// of is the bytes of a token, nil for an id that no token has.
func (t *tokenTexts) of(id int32) []byte {
	if id < 0 || int(id) >= len(t.ends) {
		return nil
	}
	start := uint32(0)
	if id > 0 {
		start = t.ends[id-1]
	}
	return t.bytes[start:t.ends[id]]
}

// shown is of, but nil for a token that is hidden.
func (t *tokenTexts) shown(id int32) []byte {
	if id < 0 || int(id) >= len(t.hidden) || t.hidden[id] || slices.Contains(t.also, id) {
		return nil
	}
	return t.of(id)
}

// hide makes a token one that is not shown.
func (t *tokenTexts) hide(id int32) {
	if id >= 0 && int(id) < len(t.hidden) {
		t.hidden[id] = true
	}
}

// hiding is t without the text of some ids.
func (t *tokenTexts) hiding(ids []int32) *tokenTexts {
	less := *t
	less.also = slices.Concat(t.also, ids)
	return &less
}
