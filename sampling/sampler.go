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
	vocab  int
	passes Passes
	work   []float32 // logits that processors change
	kept   candidates
	sums   [buckets]float64
	some   [Block]float32 // logits
	few    [Block]float64 // weights
}

// Bytes is the scratch memory of a Sampler for rows of vocab logits: 20 per token.
func Bytes(vocab int) int64 { return 20 * int64(vocab) }

// NewSampler makes a Sampler for rows of vocab logits.
func NewSampler(vocab int) *Sampler {
	return &Sampler{vocab: vocab, passes: Plain, work: make([]float32, vocab), kept: candidates{
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
	raw := distribution{logits: logits, best: float64(logits[most]), temperature: 1}
	if p.Tell.Logprobs { // first, for the filters use the same scratch memory
		s.tellTop(&raw, int(p.Tell.Top), out)
	}
	d := raw
	if p.Processes(h) {
		if most, err = s.process(logits, p, h); err != nil {
			return err
		}
		d = distribution{logits: s.work, best: float64(s.work[most]), temperature: 1}
	}
	out.ID = s.choose(&d, p, most, key)
	if p.Tell.Logprobs {
		out.Raw = raw.logprob(out.ID, raw.logTotal())
		s.asSampled(&d, p, out)
	}
	if p.Tell.Kept {
		out.KeptCount, out.Kept = int32(len(s.kept.ids)), out.Kept[:0]
		if len(s.kept.ids) <= MaxKept {
			out.Kept = append(out.Kept, s.kept.ids...)
		}
	}
	return nil
}

// choose draws a token of d, whose largest logit is most's, and completes d.
func (s *Sampler) choose(d *distribution, p *Params, most int32, key Key) int32 {
	if p.Greedy() {
		s.kept.reset()
		s.kept.add(most, 1)
		d.total = 1
		return most
	}
	if p.Temperature != 1 {
		d.temperature, d.total = float64(p.Temperature), 0
	}
	if p.filters() {
		s.keep(d, p)
		d.total = s.kept.total()
		return s.kept.draw(key.Uniform() * d.total)
	}
	if d.total == 0 { // else it is that of the raw logits
		d.total = s.sumAll(d)
	}
	id := s.drawAny(d, key.Uniform()*d.total)
	if p.Tell.Kept {
		s.gather(d, banned)
	}
	return id
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
	raw := distribution{logits: logits, best: float64(logits[most]), temperature: 1}
	s.tellTop(&raw, int(top), out)
	own := raw.logprob(id, raw.logTotal())
	out.Logprob = Logprob{ID: id, Raw: own, Sampled: own}
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
	return s.argmax(logits)
}

// argmax is the id of the largest logit, the lowest id among equals.
func (s *Sampler) argmax(logits []float32) (int32, error) {
	best, id := banned, -1
	for i := s.passes.Above(logits, best); i < len(logits); i += s.passes.Above(logits[i:], best) {
		v := logits[i]
		if !(v <= math.MaxFloat32) { // a NaN too
			return 0, fmt.Errorf("%w: that of token %d is %v", ErrLogits, i, v)
		}
		best, id = v, i
	}
	if id < 0 {
		return 0, fmt.Errorf("%w: every one is -Inf", ErrLogits)
	}
	return int32(id), nil
}
