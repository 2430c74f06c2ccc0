package sampling

import (
	"fmt"
	"math"
	"slices"
)

var banned = float32(math.Inf(-1))

// repeats and penalises say which penalties there are.
func (p *Params) repeats() bool   { return p.RepetitionPenalty != 0 && p.RepetitionPenalty != 1 }
func (p *Params) penalises() bool { return p.PresencePenalty != 0 || p.FrequencyPenalty != 0 }
func (p *Params) tooShort(h History) bool {
	return len(h.IDs)-int(h.Prompt) < int(p.MinNew) && len(p.Ends) > 0
}

// Processes says whether the logits behind h are changed before a token is drawn.
func (p *Params) Processes(h History) bool {
	return len(p.Bias) > 0 || p.repeats() || p.penalises() || p.NoRepeatNgram > 0 ||
		len(p.BadWords) > 0 || p.tooShort(h) || len(p.Allowed) > 0 || p.Processor != nil
}

// Remembers says whether processors look at the ids of the sequence so far.
func (p *Params) Remembers() bool {
	return p.repeats() || p.penalises() || p.NoRepeatNgram > 0 || p.Processor != nil ||
		slices.ContainsFunc(p.BadWords, func(word []int32) bool { return len(word) > 1 })
}

// process makes s.work of the logits by the processors of p, in the order of its
// fields, and finds the largest.
func (s *Sampler) process(logits []float32, p *Params, h History) (most int32, err error) {
	copy(s.work, logits)
	for _, b := range p.Bias {
		s.work[b.ID] += b.Value
	}
	if p.repeats() {
		s.repetition(p.RepetitionPenalty, h.IDs)
	}
	if p.penalises() {
		s.penalties(p, h.IDs[h.Prompt:])
	}
	if p.NoRepeatNgram > 0 {
		s.banNgrams(h.IDs, int(p.NoRepeatNgram))
	}
	for _, word := range p.BadWords {
		s.banWord(h.IDs, word)
	}
	if p.tooShort(h) {
		for _, id := range p.Ends {
			if id >= 0 {
				s.work[id] = banned
			}
		}
	}
	if len(p.Allowed) > 0 {
		s.allowOnly(p.Allowed)
	}
	if p.Processor != nil {
		return s.call(p.Processor, h)
	}
	if most, err = s.argmax(s.work); err != nil {
		return 0, fmt.Errorf("%w after the request's biases, penalties and bans", err)
	}
	return most, nil
}

// repetition divides the logits of ids by the penalty, multiplies negative ones:
// Keskar et al., "CTRL", 2019. Each id counts once.
func (s *Sampler) repetition(penalty float32, ids []int32) {
	times := s.count(ids)
	for _, id := range ids {
		if times[id] == 0 {
			continue
		}
		times[id] = 0
		if v := s.work[id]; v < 0 {
			s.work[id] = v * penalty
		} else {
			s.work[id] = v / penalty
		}
	}
}

// penalties takes the presence penalty, and the frequency penalty for each time,
// from the logits of ids.
func (s *Sampler) penalties(p *Params, ids []int32) {
	times := s.count(ids)
	for _, id := range ids {
		if n := times[id]; n > 0 {
			times[id] = 0
			s.work[id] -= p.PresencePenalty + float32(p.FrequencyPenalty*float32(n)) // not fused where a CPU can
		}
	}
}

// count is how often each of ids is among them, by id; of others it says nothing,
// so that the cost follows ids, not the vocabulary.
func (s *Sampler) count(ids []int32) []uint32 {
	times := s.kept.ranks[:s.vocab]
	for _, id := range ids {
		times[id] = 0
	}
	for _, id := range ids {
		times[id]++
	}
	return times
}

// banNgrams bans what would make n ids in a row that are in ids already.
func (s *Sampler) banNgrams(ids []int32, n int) {
	if len(ids) < n {
		return
	}
	begin := ids[len(ids)-(n-1):]
	for i := n - 1; i < len(ids); i++ {
		if slices.Equal(ids[i-(n-1):i], begin) {
			s.work[ids[i]] = banned
		}
	}
}

// banWord bans the last id of word where ids end with the rest.
func (s *Sampler) banWord(ids, word []int32) {
	rest := len(word) - 1
	if rest <= len(ids) && slices.Equal(ids[len(ids)-rest:], word[:rest]) {
		s.work[word[rest]] = banned
	}
}

// allowOnly bans all other ids.
func (s *Sampler) allowOnly(ids []int32) {
	logits := s.kept.ranks[:0]
	for _, id := range ids {
		logits = append(logits, math.Float32bits(s.work[id]))
	}
	for i := range s.work {
		s.work[i] = banned
	}
	for i, id := range ids {
		s.work[id] = math.Float32frombits(logits[i])
	}
}

// call has the caller's code change s.work. It cannot append to what it gets.
func (s *Sampler) call(p Processor, h History) (most int32, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: it panics: %v", ErrProcessor, r)
		}
	}()
	n := len(h.IDs)
	if err := p.Process(h.IDs[:n:n], int(h.Prompt), s.work); err != nil {
		return 0, fmt.Errorf("%w: %w", ErrProcessor, err)
	}
	if most, err = s.argmax(s.work); err != nil {
		return 0, fmt.Errorf("%w: %w", ErrProcessor, err)
	}
	return most, nil
}
