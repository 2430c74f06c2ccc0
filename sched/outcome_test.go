package sched

import (
	"errors"
	"fmt"
	"slices"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/sampling"
)

const vocab = 50021 // of the ECHO executor

// outcome is what a sequence should bring, and what it brought so far.
type outcome struct {
	prompt  []int32
	want    []int32
	wantEnd Finish

	scores  []float32 // log-probabilities of the prompt's ids from the second on, if they are to be told
	private bool

	got               []int32
	epochs            []uint32 // of the weights that sampled them
	claims            claims
	told              []sampling.Drawn // of the prompt
	end               Finish
	dropped           string // by whom it was ended from outside, "": it was not
	cached, preempted int32
	computed          int32 // tokens in its rows
	wrong             error // what broke the promises, nil: nothing
}

// alone is what a sequence of a request brings when nobody else is there: the
// plain function that every run through blocks is held against.
func alone(r Submit, child int32, failing bool, windows ...int) *outcome {
	o := &outcome{prompt: slices.Clip(r.IDs), private: r.Private, claims: claims{request: r, child: child, windows: windows, failing: failing}}
	if r.Sampling.Tell.Prompt && child == 0 {
		for n := 2; n <= len(r.IDs); n++ {
			o.scores = append(o.scores, executor.EchoScore(r.IDs[:n], vocab, 1, windows...))
		}
	}
	if r.MaxNew == 0 {
		o.wantEnd = Length
		return o
	}
	ids := slices.Clone(r.IDs)
	for {
		if failing && fails(ids) != nil {
			o.wantEnd = Failed
			return o
		}
		next := executor.EchoRef(ids, 1, vocab, 1, windows...)[0]
		next = sampled(&r, child, len(ids), next)
		ids, o.want = append(ids, next), append(o.want, next)
		if slices.Contains(r.EOS, next) {
			o.wantEnd = Stop
			return o
		}
		if len(o.want) == int(r.MaxNew) {
			o.wantEnd = Length
			return o
		}
	}
}

// sampled is the id at a position where the formula gives next.
func sampled(r *Submit, child int32, position int, next int32) int32 {
	if r.Sampling.Greedy() {
		return next
	}
	key := sampling.Key{Seed: r.Seed, Child: child, Position: int32(position)}
	return int32((uint64(next) + uint64(key.Uniform()*vocab)) % vocab)
}

// fails is the error of the row that samples after ids: of some, by their last id.
func fails(ids []int32) error {
	if (int(ids[len(ids)-1])+len(ids))%53 == 0 {
		return errors.New("unusable logits")
	}
	return nil
}

// take is a message for the sequence; it tells whether it was the last.
func (o *outcome) take(it Item) (ended bool) {
	switch {
	case o.end != Running || o.dropped != "":
		o.wrong = errors.New("gets something after its end")
	case it.Preemptions < o.preempted:
		o.wrong = fmt.Errorf("was given up %d times, and %d before", it.Preemptions, o.preempted)
	case (it.Finish == Failed) != (it.Err != nil):
		o.wrong = fmt.Errorf("ends with %d and error %v", it.Finish, it.Err)
	}
	if err := o.claims.hold(o, it); err != nil {
		o.wrong = err
	}
	for _, d := range it.Prompt {
		o.told = append(o.told, d)
		if n := len(o.told); n > len(o.scores) || d.ID != o.prompt[n] || !o.claims.mixed() && d.Raw != o.scores[n-1] {
			o.wrong = fmt.Errorf("is told %v of its prompt's id %d", d.Logprob, n)
		}
	}
	if o.private && it.Cached > 0 {
		o.wrong = fmt.Errorf("is private and found %d tokens", it.Cached)
	}
	o.got = append(o.got, it.IDs...)
	for range it.IDs {
		o.epochs = append(o.epochs, it.Epoch)
	}
	o.end, o.preempted, o.cached = it.Finish, it.Preemptions, it.Cached
	return it.Finish != Running
}

// check holds what came against what should have.
func (o *outcome) check() error {
	switch {
	case o.claims.mixed(): // every step of it was checked
		if o.end == Running && o.dropped == "" {
			return errors.New("did not end")
		}
	case o.dropped != "" && (len(o.got) > len(o.want) || !slices.Equal(o.got, o.want[:len(o.got)])):
		return fmt.Errorf("%s, got %v, want a start of %v", o.dropped, o.got, o.want)
	case o.dropped == "" && (o.end != o.wantEnd || !slices.Equal(o.got, o.want)):
		return fmt.Errorf("ended %d with %v, want %d with %v", o.end, o.got, o.wantEnd, o.want)
	case (o.end == Stop || o.end == Length) && len(o.told) != len(o.scores):
		return fmt.Errorf("was told of %d ids of its prompt, want %d", len(o.told), len(o.scores))
	}
	return nil
}

// prompt is n tokens of a text; texts differ from the first token on.
func prompt(n, text int) []int32 {
	p := make([]int32, n)
	for i := range p {
		p[i] = int32((i*7919 + text*104729 + 17) % vocab)
	}
	return p
}
