package text

import (
	"fmt"
	"sync"
	"unicode/utf8"
)

// pair is two neighbouring tokens; merge is what becomes of them, and how early.
type (
	pair  struct{ left, right int32 }
	merge struct{ rank, id int32 }
)

// bpe is byte-pair encoding (Sennrich et al. 2016): a word starts as one token for
// each byte, as GPT-2 has it, or each character, as SentencePiece has it, and pairs
// are merged by rank.
type bpe struct {
	bytes    *byteTokens      // words start as bytes; nil: as characters
	chars    map[rune]int32   // then
	fallback *byteTokens      // for characters without a token; nil: off
	unk      int32            // stands for what has no token; none: that is dropped
	fuseUnk  bool             // neighbouring unk become one
	merges   map[pair]merge   //
	whole    map[string]int32 // words that are a token as they are and not merged; nil: off
	mergers  sync.Pool        // of *scratch
}

// scratch is the memory that one call needs.
type scratch struct {
	ids []int32
	merger
}

// maxScratch is how many places of a word the memory has that is kept for the next.
const maxScratch = 1 << 16

// newBPE builds the model of a definition. vocab maps tokens to their ids.
func newBPE(d *definition, vocab map[string]int32) (*bpe, error) {
	m := &bpe{unk: d.unk, fuseUnk: d.fuseUnk, merges: d.pairs}
	m.mergers.New = func() any { return new(scratch) }
	if err := m.setSymbols(d, vocab); err != nil {
		return nil, err
	}
	if m.merges == nil {
		m.merges = make(map[pair]merge, len(d.merges))
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
	m.whole = d.whole
	if d.ignoreMerges {
		m.whole = vocab
		if d.byteLevel {
			m.whole = wholeWords(vocab)
		}
	}
	return m, nil
}

// setSymbols sets what words start as.
func (m *bpe) setSymbols(d *definition, vocab map[string]int32) error {
	if d.byteLevel {
		bytes, all := newByteTokens(vocab, byteToken)
		if d.byteFallback && !all {
			return fmt.Errorf("%w: byte_fallback beside ByteLevel, whose tokens are not all there", ErrUnsupported)
		}
		m.bytes = &bytes
		return nil
	}
	m.chars = make(map[rune]int32)
	for token, id := range vocab {
		if r, n := utf8.DecodeRuneInString(token); n == len(token) && n > 0 {
			m.chars[r] = id
		}
	}
	if d.byteFallback {
		bytes, _ := newByteTokens(vocab, fallbackToken)
		m.fallback = &bytes
	}
	return nil
}

// wholeWords is a vocabulary in the byte-level alphabet by the bytes of its tokens.
func wholeWords(vocab map[string]int32) map[string]int32 {
	whole := make(map[string]int32, len(vocab))
	for token, id := range vocab {
		if word, ok := fromByteLevel(token); ok {
			whole[string(word)] = id
		}
	}
	return whole
}

func (m *bpe) appendWord(dst []int32, word string) []int32 {
	return m.appendWithout(dst, word, nil)
}

// appendWithout implements wordModel: merges are made all the same.
func (m *bpe) appendWithout(dst []int32, word string, never map[int32]bool) []int32 {
	if id, ok := m.whole[word]; ok && !never[id] {
		return append(dst, id)
	}
	s := m.mergers.Get().(*scratch)
	if m.bytes != nil {
		s.ids = m.appendByteSymbols(s.ids[:0], word)
	} else {
		s.ids = m.appendCharSymbols(s.ids[:0], word)
	}
	s.start(s.ids)
	s.run(m.merges)
	dst = s.appendTo(dst)
	if cap(s.symbols)+cap(s.heap) <= maxScratch { // what a huge word took is not kept
		m.mergers.Put(s)
	}
	return dst
}

// appendByteSymbols appends the tokens that the bytes of a word start as.
func (m *bpe) appendByteSymbols(dst []int32, word string) []int32 {
	unknown := false // the byte before
	for i := range len(word) {
		id := m.bytes[word[i]]
		if id != none {
			dst, unknown = append(dst, id), false
			continue
		}
		if m.unk != none && !(unknown && m.fuseUnk) {
			dst = append(dst, m.unk)
		}
		unknown = true
	}
	return dst
}

// appendCharSymbols appends the tokens that the characters of a word start as. As in
// the reference, an unknown token comes when the next known character does, behind
// bytes that are in between.
func (m *bpe) appendCharSymbols(dst []int32, word string) []int32 {
	pending := false // an unknown token is to come
	for i, n := 0, 0; i < len(word); i += n {
		var r rune
		r, n = utf8.DecodeRuneInString(word[i:])
		if id, ok := m.chars[r]; ok {
			if pending {
				dst, pending = append(dst, m.unk), false
			}
			dst = append(dst, id)
			continue
		}
		if m.fallback != nil {
			var ok bool
			if dst, ok = m.fallback.appendBytes(dst, word[i:i+n]); ok {
				continue
			}
		}
		if m.unk == none {
			continue
		}
		if pending && !m.fuseUnk {
			dst = append(dst, m.unk)
		}
		pending = true
	}
	if pending {
		dst = append(dst, m.unk)
	}
	return dst
}
