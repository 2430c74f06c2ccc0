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

// Sample draws a token from a row of logits, which it does not change, into out.
// p must have passed Check. The processors and filters of p act in the order of its
// fields; p.Greedy() then takes the largest logit, the lowest id among equals, else
// the token is where the cumulative probability of what is kept, by ascending id,
// first exceeds key.Uniform(). What p.Tell does not ask for stays as it is in out.
//
// A row that is not usable, before or after the processors, is an ErrLogits. Nothing
// is allocated but for an error and for out's slices to grow.
func (s *Sampler) Sample(logits []float32, p *Params, h History, key Key, out *Drawn) error {
	if len(logits) != s.vocab {
		return fmt.Errorf("%w: %d of them, the vocabulary has %d", ErrLogits, len(logits), s.vocab)
	}
	best, err := argmax(logits)
	if err != nil {
		return err
	}
	if p.Greedy() {
		out.ID, out.Sampled = best, 0
		return nil
	}
	s.keep(logits, *p, logits[best])
	out.ID, out.Sampled = s.kept.draw(key.Uniform())
	return nil
}

// Score fills out with the raw log-probability of a token, and of the top most
// likely ones: Sampled is the same as Raw.
func (s *Sampler) Score(logits []float32, id, top int32, out *Drawn) error {
	return fmt.Errorf("%w: not yet", ErrLogits)
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
