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

	got               []int32
	end               Finish
	dropped           bool // cancelled before its end
	cached, preempted int32
	computed          int32 // tokens in its rows
	wrong             error // what broke the promises, nil: nothing
}

// alone is what a sequence of a request brings when nobody else is there: the
// plain function that every run through blocks is held against.
func alone(r Submit, child int32, failing bool, windows ...int) *outcome {
	o := &outcome{prompt: slices.Clip(r.IDs)}
	ids := slices.Clone(r.IDs)
	for {
		if failing && fails(ids) != nil {
			o.wantEnd = Failed
			return o
		}
		next := executor.EchoRef(ids, 1, vocab, 1, windows...)[0]
		if !r.Sampling.Greedy() {
			key := sampling.Key{Seed: r.Seed, Child: child, Position: int32(len(ids))}
			next = int32((uint64(next) + uint64(key.Uniform()*vocab)) % vocab)
		}
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
	case o.end != Running || o.dropped:
		o.wrong = errors.New("gets something after its end")
	case it.Preemptions < o.preempted:
		o.wrong = fmt.Errorf("was given up %d times, and %d before", it.Preemptions, o.preempted)
	case (it.Finish == Failed) != (it.Err != nil):
		o.wrong = fmt.Errorf("ends with %d and error %v", it.Finish, it.Err)
	}
	o.got = append(o.got, it.IDs...)
	o.end, o.preempted, o.cached = it.Finish, it.Preemptions, it.Cached
	return it.Finish != Running
}

// check holds what came against what should have.
func (o *outcome) check() error {
	switch {
	case o.dropped && (len(o.got) > len(o.want) || !slices.Equal(o.got, o.want[:len(o.got)])):
		return fmt.Errorf("cancelled, got %v, want a start of %v", o.got, o.want)
	case !o.dropped && (o.end != o.wantEnd || !slices.Equal(o.got, o.want)):
		return fmt.Errorf("ended %d with %v, want %d with %v", o.end, o.got, o.wantEnd, o.want)
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
