package text

import (
	"fmt"
	"math"
	"sync"
	"unicode/utf8"
)

// maxPiece is the size in bytes of the longest token of a SentencePiece model: what
// may be looked at again at every place of a text.
const maxPiece = 512

// unknownPenalty is how much less likely than the least likely token an unknown
// character is (google/sentencepiece, src/unigram_model.cc, kUnkPenalty).
const unknownPenalty = 10

// unigram cuts a word into the tokens whose probabilities have the highest product
// (Kudo 2018, "Subword Regularization"), by Viterbi's algorithm: scores are
// logarithms, and the best way to each place is extended by every token that starts
// there.
type unigram struct {
	pieces   *trie
	scores   []float64
	unk      int32
	unkScore float64
	fallback *byteTokens // for what has no token; nil: off
	vocab    map[string]int32
	paths    sync.Pool // of *[]reached
}

// reached is the best way to a place in a word.
type reached struct {
	score float64
	from  int32 // where its last token starts; none: nothing leads here yet
	to    int32 // where the token after it ends, on the best way to the end
	id    int32 // its last token
}

// newUnigram builds the model of a definition, whose tokens have scores.
func newUnigram(d *definition, vocab map[string]int32) (*unigram, error) {
	m := &unigram{scores: d.scores, unk: d.unk, vocab: vocab, unkScore: math.Inf(1)}
	m.paths.New = func() any { return new([]reached) }
	pieces := d.tokens[:len(d.scores)]
	for id, piece := range pieces {
		if len(piece) > maxPiece {
			return nil, fmt.Errorf("%w: token %d has %d bytes", ErrUnsupported, id, len(piece))
		}
		if score := d.scores[id]; math.IsNaN(score) || math.IsInf(score, 0) {
			return nil, fmt.Errorf("%w: token %d has the score %v", ErrMalformed, id, score)
		}
		m.unkScore = min(m.unkScore, d.scores[id])
	}
	m.unkScore -= unknownPenalty
	m.pieces = newTrie(pieces)
	if d.byteFallback {
		bytes, _ := newByteTokens(vocab, fallbackToken)
		m.fallback = &bytes
	}
	return m, nil
}

func (m *unigram) appendWord(dst []int32, word string) []int32 {
	return m.appendWithout(dst, word, nil)
}

// appendWithout implements wordModel.
func (m *unigram) appendWithout(dst []int32, word string, never map[int32]bool) []int32 {
	buffer := m.paths.Get().(*[]reached)
	best := m.walk((*buffer)[:0], word, never)
	if cap(best) <= maxScratch { // what a huge word took is not kept
		*buffer = best
		defer m.paths.Put(buffer)
	}
	for at := len(word); at > 0; at = int(best[at].from) {
		best[best[at].from].to = int32(at)
	}
	for at := 0; at < len(word); {
		end := int(best[at].to)
		if best[end].id != m.unk {
			dst = append(dst, best[end].id)
			at = end
			continue
		}
		for end < len(word) && best[best[end].to].id == m.unk { // unknown neighbours are one
			end = int(best[end].to)
		}
		dst = m.appendUnknown(dst, word[at:end], never)
		at = end
	}
	return dst
}

// walk finds the best way to every place of a word, in best, by tokens that are not among
// never.
func (m *unigram) walk(best []reached, word string, never map[int32]bool) []reached {
	best = append(best, reached{from: 0, id: none})
	for range len(word) {
		best = append(best, reached{from: none})
	}
	for at, size := 0, 0; at < len(word); at += size {
		_, size = utf8.DecodeRuneInString(word[at:])
		here, single := best[at].score, false
		node := int32(0)
		for end := at; end < len(word); end++ {
			if node = m.pieces.child(node, word[end]); node == 0 {
				break
			}
			if id := m.pieces.values[node]; id != none && !never[id] {
				best[end+1].improve(here+m.scores[id], at, id)
				single = single || end+1 == at+size
			}
		}
		if !single {
			best[at+size].improve(here+m.unkScore, at, m.unk)
		}
	}
	return best
}

// improve takes another way to a place if it is better.
func (r *reached) improve(score float64, from int, id int32) {
	if r.from == none || score > r.score {
		*r = reached{score: score, from: int32(from), id: id}
	}
}

// appendUnknown appends what stands for text without a token.
func (m *unigram) appendUnknown(dst []int32, s string, never map[int32]bool) []int32 {
	if id, ok := m.vocab[s]; ok && !never[id] {
		return append(dst, id)
	}
	if m.fallback != nil {
		if ids, ok := m.fallback.appendBytes(dst, s); ok {
			return ids
		}
	}
	return append(dst, m.unk)
}
