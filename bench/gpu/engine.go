package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/rs/zerolog"

	workloads "github.com/cbactor/cbactor/bench"
	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/executor"
)

// pauses is how many are asked for at most while pausedRequests run, and rest the time between them.
const (
	pauses         = 20
	pausedRequests = 32
	rest           = 10 * time.Millisecond
)

// measureEngine generates with n requests at once through an engine over ex, which it closes: without
// pauses, and then with some.
func measureEngine(ex executor.Executor, n, prompt, generate int) (r engineReport, err error) {
	ctx := context.Background()
	e, err := engine.Spawn(ctx, engine.Config{Executor: ex, Log: zerolog.Nop()})
	if err != nil {
		return r, errors.Join(err, ex.Close())
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	requests := make([]engine.Request, n)
	for i, c := range workloads.Synthetic(n, prompt, generate, ex.Info().Vocab) {
		requests[i] = engine.Request{PromptIDs: c.Prompt, MaxNewTokens: generate, IgnoreEOS: true, Private: true}
	}
	outs, err := e.GenerateBatch(ctx, requests, engine.BatchOptions{Timestamps: true})
	if err != nil {
		return r, err
	}
	if r, err = generated(outs); err != nil {
		return r, err
	}
	took, err := paused(ctx, e, requests[:min(n, pausedRequests)])
	if r.Pauses = len(took); err != nil || r.Pauses == 0 {
		return r, err
	}
	slices.Sort(took)
	r.PauseMs, r.PauseMostMs = micros(took[len(took)/2])/1e3, micros(took[len(took)-1])/1e3
	return r, nil
}

// generated makes a report of requests that were handed over together.
func generated(outs []engine.Output) (engineReport, error) {
	r := engineReport{Requests: len(outs)}
	var first []time.Duration
	created, ended := outs[0].Timing.Created, outs[0].Timing.Ended
	begin, end := outs[0].Timing.First, outs[0].Timing.Ended // while all of them generate
	tokens := 0
	for _, o := range outs {
		if o.Err != nil {
			return r, o.Err
		}
		t := &o.Timing
		first = append(first, t.First.Sub(t.Created))
		tokens += len(o.TokenIDs)
		if t.Created.Before(created) {
			created = t.Created
		}
		if t.Ended.After(ended) {
			ended = t.Ended
		}
		if t.First.After(begin) {
			begin = t.First
		}
		if t.Ended.Before(end) {
			end = t.Ended
		}
	}
	slices.Sort(first)
	r.FirstMs = micros(first[len(first)/2]) / 1e3
	r.WholeS = float64(tokens) / max(ended.Sub(created).Seconds(), 1e-9)
	within := 0
	for _, o := range outs {
		for _, at := range o.Timing.Tokens {
			if at.After(begin) && !at.After(end) {
				within++
			}
		}
	}
	if within > 0 {
		r.TokensS = float64(within) / end.Sub(begin).Seconds()
	}
	return r, nil
}

// paused runs requests and tells how long pauses meanwhile took to be acknowledged.
func paused(ctx context.Context, e *engine.Engine, requests []engine.Request) ([]time.Duration, error) {
	done := make(chan error, 1)
	go func() {
		_, err := e.GenerateBatch(ctx, requests, engine.BatchOptions{})
		done <- err
	}()
	var took []time.Duration
	for len(took) < pauses {
		select {
		case err := <-done:
			return took, err
		case <-time.After(rest):
		}
		asked := time.Now()
		hold, err := e.Pause(ctx, engine.PauseOptions{})
		if err != nil {
			return nil, errors.Join(fmt.Errorf("pause %d: %w", len(took), err), <-done)
		}
		took = append(took, time.Since(asked))
		if err := hold.Release(""); err != nil {
			return nil, errors.Join(err, <-done)
		}
	}
	return took, <-done
}
