package text

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cbactor/cbactor/checkpoint"
)

// pairsByScore are the merges of a SentencePiece vocabulary, which has scores
// instead: two neighbours are merged when they are a token together, those with the
// highest score first, the leftmost of equals (Kudo and Richardson 2018,
// google/sentencepiece, src/bpe_model.cc). Only tokens of text take part. vocab maps
// them to their ids.
func pairsByScore(v *checkpoint.Vocab, vocab map[string]int32) (map[pair]merge, error) {
	if len(v.Scores) != len(v.Tokens) {
		return nil, fmt.Errorf("%w: %d tokens and %d scores", ErrMalformed, len(v.Tokens), len(v.Scores))
	}
	ranks := rankScores(v.Scores)
	pairs := make(map[pair]merge, 2*len(vocab))
	for token, id := range vocab {
		if len(token) > maxPiece {
			return nil, fmt.Errorf("%w: token %d has %d bytes", ErrUnsupported, id, len(token))
		}
		for cut := range token {
			left, ok := vocab[token[:cut]]
			if !ok {
				continue
			}
			if right, ok := vocab[token[cut:]]; ok {
				pairs[pair{left, right}] = merge{ranks[id], id}
			}
		}
	}
	return pairs, nil
}

// rankScores numbers scores from the highest on; equal ones have one number.
func rankScores(scores []float32) []int32 {
	order := make([]int32, len(scores))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Compare(scores[b], scores[a]) })
	ranks := make([]int32, len(scores))
	for i, id := range order[min(1, len(order)):] {
		before := order[i]
		ranks[id] = ranks[before]
		if scores[id] != scores[before] {
			ranks[id]++
		}
	}
	return ranks
}
