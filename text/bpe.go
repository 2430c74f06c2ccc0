package text

import (
	"fmt"
	"sync"
)

// pair is two neighbouring tokens; merge is what becomes of them, and how early.
type (
	pair  struct{ left, right int32 }
	merge struct{ rank, id int32 }
)

// none stands for a token that the vocabulary does not have.
const none = -1

// bpe is byte-pair encoding over bytes (Sennrich et al. 2016, as GPT-2 does
// it): a word starts as one token per byte, and pairs are merged by rank.
type bpe struct {
	bytes   [256]int32 // the token of a byte; none: not in the vocabulary
	merges  map[pair]merge
	whole   map[string]int32 // ignore_merges: words that are a token as they are; nil: off
	unk     int32            // stands for bytes without a token; none: these are dropped
	fuseUnk bool             // neighbouring unk become one
	cache   wordCache
	mergers sync.Pool // of *scratch
}

// scratch is the memory that one call needs.
type scratch struct {
	ids []int32
	merger
}

// newBPE builds the model of a definition. vocab maps the tokens, in the
// byte-level alphabet, to their ids.
func newBPE(d *definition, vocab map[string]int32) (*bpe, error) {
	m := &bpe{unk: d.unk, fuseUnk: d.fuseUnk, merges: make(map[pair]merge, len(d.merges))}
	m.mergers.New = func() any { return new(scratch) }
	for b := range m.bytes {
		m.bytes[b] = none
		if id, ok := vocab[byteToken(byte(b))]; ok {
			m.bytes[b] = id
		}
	}
	for rank, p := range d.merges {
		left, okLeft := vocab[p[0]]
		right, okRight := vocab[p[1]]
		id, okBoth := vocab[p[0]+p[1]]
		if !okLeft || !okRight || !okBoth {
			return nil, fmt.Errorf("%w: merge %d (%.40q, %.40q) names tokens that are not in the vocabulary", ErrMalformed, rank, p[0], p[1])
		}
		m.merges[pair{left, right}] = merge{int32(rank), id}
	}
	if d.ignoreMerges {
		m.whole = make(map[string]int32, len(vocab))
		for token, id := range vocab {
			if word, ok := fromByteLevel(token); ok {
				m.whole[string(word)] = id
			}
		}
	}
	return m, nil
}

// appendWord appends the tokens of a word to dst.
func (m *bpe) appendWord(dst []int32, word string) []int32 {
	if id, ok := m.whole[word]; ok {
		return append(dst, id)
	}
	if ids, ok := m.cache.get(word); ok {
		return append(dst, ids...)
	}
	s := m.mergers.Get().(*scratch)
	s.ids = s.ids[:0]
	for i := range len(word) {
		id := m.bytes[word[i]]
		if id == none {
			id = m.unk
			if id == none || m.fuseUnk && len(s.ids) > 0 && s.ids[len(s.ids)-1] == id {
				continue
			}
		}
		s.ids = append(s.ids, id)
	}
	s.start(s.ids)
	s.run(m.merges)
	first := len(dst)
	dst = s.appendTo(dst)
	m.mergers.Put(s)
	m.cache.put(word, dst[first:])
	return dst
}
