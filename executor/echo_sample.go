package executor

import (
	"math"

	"github.com/cbactor/cbactor/sampling"
)

// EchoLogprob is the raw log-probability that an Echo tells of id at position, where
// its formula gives next: ids from next on, modulo vocab, are ever less likely by the
// same step, which differs from place to place. Each is below 0, and exact as long as
// id is not further than 32,000 from next. They add up to less than 1.
func EchoLogprob(id, next, position int32, vocab int) float32 {
	rank := int(id - next)
	if rank < 0 {
		rank += vocab
	}
	step := 1 + float32((int(next)+int(position))%255)/64
	return -float32(1+rank) * step
}

// EchoScore is the raw log-probability of the last of ids after the others, 1 at
// least, in an Echo of that vocabulary and those windows in weight epoch epoch.
func EchoScore(ids []int32, vocab int, epoch uint32, windows ...int) float32 {
	last := len(ids) - 1
	next := EchoRef(ids[:last], 1, vocab, epoch, windows...)[0]
	return EchoLogprob(ids[last], next, int32(last), vocab)
}

// sample draws an id of s, where the formula gives next.
func (e *Echo) sample(s *echoSlot, next int32, out *RowResult) {
	if e.config.Fail != nil {
		s.err = e.config.Fail(s.ids)
	}
	d := &e.drawn
	if Tells(&s.sampling.Tell) {
		out.Drawn = Records(out.Drawn, 1)
		d = &out.Drawn[0]
	}
	key := sampling.Key{Seed: s.seed, Child: s.child, Position: int32(len(s.ids))}
	switch {
	case s.err != nil:
	case s.sampling.Processes(sampling.History{IDs: s.ids, Prompt: s.prompt}):
		s.err = e.process(s, next, key, d)
	default:
		e.draw(s, next, key, d)
	}
	if s.err != nil {
		out.Fail(s.err)
		return
	}
	out.Tokens = append(out.Tokens, d.ID)
}

// draw takes next, or any id alike.
func (e *Echo) draw(s *echoSlot, next int32, key sampling.Key, d *sampling.Drawn) {
	vocab, greedy, tell := e.config.Vocab, s.sampling.Greedy(), &s.sampling.Tell
	d.ID = next
	if !greedy {
		d.ID = int32((uint64(next) + uint64(key.Uniform()*float64(vocab))) % uint64(vocab))
	}
	if tell.Logprobs {
		e.likely(d, next, key.Position, tell.Top)
		d.Sampled = e.sampled(d.ID, next, greedy)
		for i := range d.Top {
			d.Top[i].Sampled = e.sampled(d.Top[i].ID, next, greedy)
		}
	}
	if !tell.Kept {
		return
	}
	if d.KeptCount = 1; greedy {
		d.Kept = append(d.Kept, next)
		return
	}
	if d.KeptCount = int32(vocab); vocab > sampling.MaxKept {
		return
	}
	for id := range int32(vocab) {
		d.Kept = append(d.Kept, id)
	}
}

// sampled is the log-probability of id where draw draws.
func (e *Echo) sampled(id, next int32, greedy bool) float32 {
	switch {
	case !greedy:
		return -float32(math.Log(float64(e.config.Vocab)))
	case id == next:
		return 0
	}
	return float32(math.Inf(-1))
}

// likely tells of d.ID and of the most likely ids by the raw log-probabilities.
func (e *Echo) likely(d *sampling.Drawn, next, position, top int32) {
	raw := func(id int32) sampling.Logprob {
		v := EchoLogprob(id, next, position, e.config.Vocab)
		return sampling.Logprob{ID: id, Raw: v, Sampled: v}
	}
	d.Logprob = raw(d.ID)
	for i := range min(int(top), e.config.Vocab) {
		d.Top = append(d.Top, raw(int32((int(next)+i)%e.config.Vocab)))
	}
}

// process lets a Sampler draw from Echo's log-probabilities. What is told of them is
// raw still: they do not add up to 1, which the Sampler would mend.
func (e *Echo) process(s *echoSlot, next int32, key sampling.Key, d *sampling.Drawn) error {
	vocab := e.config.Vocab
	if e.sampler == nil {
		e.sampler, e.logits = sampling.NewSampler(vocab), make([]float32, vocab)
	}
	for id := range e.logits {
		e.logits[id] = EchoLogprob(int32(id), next, key.Position, vocab)
	}
	if err := e.sampler.Sample(e.logits, &s.sampling, sampling.History{IDs: s.ids, Prompt: s.prompt}, key, d); err != nil {
		return err
	}
	if s.sampling.Tell.Logprobs {
		d.Raw = e.logits[d.ID]
	}
	for i := range d.Top {
		d.Top[i].Raw = e.logits[d.Top[i].ID]
	}
	return nil
}

// score tells of the prompt's ids behind row's positions.
func (e *Echo) score(s *echoSlot, row Row, step uint64, out *RowResult) error {
	out.Prompt = Records(out.Prompt, row.PromptScores(s.prompt))
	for i := range out.Prompt {
		p := int(row.Start) + i
		next, err := e.sum(row.Slot, p, p+1, step)
		if err != nil {
			return err
		}
		d := &out.Prompt[i]
		d.ID = s.ids[p+1]
		e.likely(d, int32(next), int32(p+1), s.sampling.Tell.Top)
	}
	return nil
}
