package sampling

import (
	"errors"
	"fmt"
	"math"
)

// ErrLogits is the class of rows that no token can be drawn from: a NaN, a +Inf,
// or nothing but -Inf. It fails the row's request, nobody else.
var ErrLogits = errors.New("logits are not usable")

// Sampler draws tokens. It owns the scratch memory that a draw needs, 16 bytes
// per token of the vocabulary, and serves one goroutine. What it answers never
// depends on earlier draws.
type Sampler struct {
	vocab int
	kept  candidates
	sums  [buckets]float64
}

// NewSampler makes a Sampler for rows of vocab logits.
func NewSampler(vocab int) *Sampler {
	return &Sampler{vocab: vocab, kept: candidates{
		ids:     make([]int32, 0, vocab),
		ranks:   make([]uint32, 0, vocab),
		weights: make([]float64, 0, vocab),
	}}
}

// Sample draws a token from a row of logits, which it does not change. p must
// have passed Check. p.Greedy() takes the largest logit, the
// lowest id among equals. Otherwise temperature, top-k and top-p are applied in
// this order, and the token is where the cumulative probability of what is kept,
// by ascending id, first exceeds key.Uniform().
//
// logprob is the natural logarithm of the token's probability in the
// distribution it was drawn from, after all filters: 0 for greedy. A row that is
// not usable is an ErrLogits. Nothing is allocated but for an error.
func (s *Sampler) Sample(logits []float32, p Params, key Key) (token int32, logprob float32, err error) {
	if len(logits) != s.vocab {
		return 0, 0, fmt.Errorf("%w: %d of them, the vocabulary has %d", ErrLogits, len(logits), s.vocab)
	}
	best, err := argmax(logits)
	if err != nil || p.Greedy() {
		return best, 0, err
	}
	s.keep(logits, p, logits[best])
	token, logprob = s.kept.draw(key.Uniform())
	return token, logprob, nil
}

// argmax is the id of the largest logit, the lowest id among equals.
func argmax(logits []float32) (int32, error) {
	best, id := float32(math.Inf(-1)), -1
	for i, v := range logits {
		if v <= best {
			continue
		}
		if !(v <= math.MaxFloat32) { // a NaN fails both comparisons
			return 0, fmt.Errorf("%w: that of token %d is %v", ErrLogits, i, v)
		}
		best, id = v, i
	}
	if id < 0 {
		return 0, fmt.Errorf("%w: every one is -Inf", ErrLogits)
	}
	return int32(id), nil
}
