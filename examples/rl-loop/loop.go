package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/text"
)

// options say how long and on what to train.
type options struct {
	steps    int
	samplers int // groups at a time
	stories  int // of a group
	groups   int // of a step
	tokens   int // of a story
	letter   string
	rate     float64 // how far a step goes
	seed     uint64
	kv       engine.KVPolicy
}

// usual takes about half a minute on two cores.
func usual() options {
	return options{steps: 60, samplers: 4, stories: 8, groups: 2, tokens: 32, letter: "s", rate: 0.4, seed: 1}
}

// loop trains and reports every step.
func loop(ctx context.Context, o options, report func(point)) (err error) {
	model, err := checkpoint.Open(checkpoint.Embedded)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, model.Close()) }()
	codec, err := text.Load(model)
	if err != nil {
		return err
	}
	policy, err := newPolicy(model)
	if err != nil {
		return err
	}
	e, err := engine.Spawn(ctx, engine.Config{Checkpoint: model, WeightSets: 2})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()

	s := &sampler{options: o, engine: e, codec: codec}
	ctx, cancel := context.WithCancelCause(ctx)
	groups := make(chan []*story, o.groups)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel(nil)
	for range o.samplers {
		running.Go(func() { cancel(s.run(ctx, groups)) })
	}
	return train(ctx, newTrainer(o, e, policy), s, groups, report)
}

// train takes groups as they are finished.
func train(ctx context.Context, t *trainer, s *sampler, groups <-chan []*story, report func(point)) error {
	last, before := time.Now(), int64(0)
	for range t.steps {
		var stories []*story
		for range t.groups {
			select {
			case group := <-groups:
				stories = append(stories, group...)
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		p, err := t.step(ctx, stories)
		if err != nil {
			return err
		}
		now, drawn := time.Now(), s.drawn.Load()
		p.tokens = float64(drawn-before) / now.Sub(last).Seconds()
		last, before = now, drawn
		report(p)
	}
	return nil
}
