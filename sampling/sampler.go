package sampling

import (
	"errors"
	"fmt"
	"math"
)

// What fails a row's request, nobody else.
var (
	// ErrLogits is the class of rows that no token can be drawn from: a NaN, a +Inf,
	// or nothing but -Inf.
	ErrLogits = errors.New("logits are not usable")
	// ErrProcessor is the class of what a request's Processor did: an error, a panic,
	// logits that are not usable.
	ErrProcessor = errors.New("the request's processor failed")
)

// Sampler draws tokens. It owns the scratch memory that a draw needs, Bytes of the
// vocabulary, and serves one goroutine. What it answers never depends on earlier
// draws.
type Sampler struct {
	vocab int
	work  []float32 // logits that processors change
	kept  candidates
	sums  [buckets]float64
}

// Bytes is the scratch memory of a Sampler for rows of vocab logits: 20 per token.
func Bytes(vocab int) int64 { return 20 * int64(vocab) }

// NewSampler makes a Sampler for rows of vocab logits.
func NewSampler(vocab int) *Sampler {
	return &Sampler{vocab: vocab, work: make([]float32, vocab), kept: candidates{
		ids:     make([]int32, 0, vocab),
		ranks:   make([]uint32, 0, vocab),
		weights: make([]float64, 0, vocab),
	}}
}

// Sample draws a token from a row of logits, which it does not change, into out.
// p must have passed CheckVocab, and h's ids must be in the vocabulary. The
// processors and filters of p act in the order of its fields; p.Greedy() then takes
// the largest logit, the lowest id among equals, else the token is where the
// cumulative probability of what is kept, by ascending id, first exceeds
// key.Uniform(). What p.Tell does not ask for stays as it is in out.
//
// A row that is not usable, before or after the processors, is an ErrLogits; what a
// Processor did is an ErrProcessor. Nothing is allocated but for an error, by a
// Processor, and for out's slices to grow.
func (s *Sampler) Sample(logits []float32, p *Params, h History, key Key, out *Drawn) error {
	most, err := s.usable(logits)
	if err != nil {
		return err
	}
	var raw logSum
	if p.Tell.Logprobs { // first, for the filters use the same scratch memory
		raw = sumOf(logits, most)
		out.Top = s.mostLikely(out.Top[:0], logits, int(p.Tell.Top), raw)
	}
	d := distribution{logits: logits, temperature: 1}
	if p.Processes(h) {
		if most, err = s.process(logits, p, h); err != nil {
			return err
		}
		d.logits = s.work
	}
	d.best = float64(d.logits[most])
	if p.Greedy() {
		s.kept.reset()
		s.kept.add(most, 1)
		out.ID = most
	} else {
		d.temperature = float64(p.Temperature)
		s.keep(&d, p)
		out.ID = s.kept.draw(key.Uniform())
	}
	if p.Tell.Logprobs {
		out.Raw = raw.logprob(logits[out.ID])
		s.asSampled(&d, out)
	}
	if p.Tell.Kept {
		out.KeptCount, out.Kept = int32(len(s.kept.ids)), out.Kept[:0]
		if len(s.kept.ids) <= MaxKept {
			out.Kept = append(out.Kept, s.kept.ids...)
		}
	}
	return nil
}

// Score fills out with the raw log-probability of a token, and of the top most
// likely ones: Sampled is the same as Raw. Kept stays as it is. A row that is not
// usable is an ErrLogits, an id outside of the vocabulary an ErrParams.
func (s *Sampler) Score(logits []float32, id, top int32, out *Drawn) error {
	most, err := s.usable(logits)
	if err != nil {
		return err
	}
	if err := inVocab("id", id, s.vocab); err != nil {
		return err
	}
	raw := sumOf(logits, most)
	out.Logprob = Logprob{ID: id, Raw: raw.logprob(logits[id]), Sampled: raw.logprob(logits[id])}
	out.Top = s.mostLikely(out.Top[:0], logits, int(top), raw)
	for i := range out.Top {
		out.Top[i].Sampled = out.Top[i].Raw
	}
	return nil
}

// usable is the largest logit's id, where there is one.
func (s *Sampler) usable(logits []float32) (int32, error) {
	if len(logits) != s.vocab {
		return 0, fmt.Errorf("%w: %d of them, the vocabulary has %d", ErrLogits, len(logits), s.vocab)
	}
	return argmax(logits)
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
