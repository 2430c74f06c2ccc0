package engine

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/cbactor/cbactor/cpuexec"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/weights"
)

// gated is the CPU executor with a gate behind a step: its result waits there.
type gated struct {
	*cpuexec.Executor
	left    atomic.Int64  // results up to the one that waits; not positive: none does
	reached chan struct{} // it waits
	open    chan struct{} // lets it through

	started, finished atomic.Int64 // steps
	toHost, fromHost  atomic.Int64 // blocks that went to the host pool, and came back
	firstOut          atomic.Int64 // the first step that some went with, counted from 1

	serving *serving
}

// Start implements executor.Executor.
func (g *gated) Start(b *executor.Batch) error {
	for _, c := range b.Copies {
		switch c.Kind {
		case executor.CopyOut:
			g.toHost.Add(1)
			g.firstOut.CompareAndSwap(0, g.started.Load()+1)
		case executor.CopyIn:
			g.fromHost.Add(1)
		}
	}
	g.started.Add(1)
	return g.Executor.Start(b)
}

// Finish implements executor.Executor.
func (g *gated) Finish(r *executor.Result) error {
	err := g.Executor.Finish(r)
	g.finished.Add(1)
	if g.left.Add(-1) == 0 {
		g.reached <- struct{}{}
		<-g.open
	}
	return err
}

// spawnGated is an engine of the tiny model with a gate.
func spawnGated(t *testing.T, cfg Config, set *weights.Set) (*Engine, *gated) {
	t.Helper()
	cfg.Trace = new(serving)
	e := spawnTiny(t, cfg)
	return e, e.gate(t, set)
}

// gate gives an engine that has done nothing, and whose Trace is a serving, another executor, with a gate. Its first
// weights are the set; nil: those that it has.
func (e *Engine) gate(t *testing.T, set *weights.Set) *gated {
	t.Helper()
	if err := e.Stop(t.Context(), StopOptions{Hard: true}); err != nil {
		t.Fatal(err)
	}
	if set != nil {
		e.begins(set, e.versions.name(set.Epoch, set.Version))
	}
	ex, err := e.maker.next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	g := &gated{Executor: ex.(*cpuexec.Executor), reached: make(chan struct{}), open: make(chan struct{}), serving: e.options.Trace.(*serving)}
	e.begin(g, e.session.Load())
	return g
}

// changed goes back to a version while a step waits at the gate. The step is let through
// when the next plan has that version, or where memory holds one set when there is none
// before that has been put in its place. It tells how that ended.
func (g *gated) changed(t *testing.T, e *Engine, version string, kv KVPolicy) <-chan error {
	t.Helper()
	before, done := e.maker.weights.Epoch, make(chan error, 1)
	go func() { done <- e.Rollback(t.Context(), version, kv) }()
	defer func() { g.open <- struct{}{} }()
	until(t, "other weights serve", func() bool {
		return g.serving.epoch.Load() > before || e.Status().Mode == "pausing" || len(done) > 0
	})
	return done
}

// followed reads a stream to its end. What it brings piece by piece is what it brings
// at the end, with no token lost or twice; so are the versions that it tells.
func followed(ctx context.Context, s *Stream) (Output, error) {
	var tokens []int32
	var told, cache []VersionSpan
	for {
		c, err := s.Recv(ctx)
		if err != nil {
			return Output{}, err
		}
		if c.Offset != len(tokens) {
			return Output{}, fmt.Errorf("%s: tokens from %d on behind %d", s.ID(), c.Offset, len(tokens))
		}
		tokens = append(tokens, c.TokenIDs...)
		for _, span := range c.WeightVersions {
			told = extend(told, span.Version, span.End)
		}
		if n := len(told); n > 0 {
			told[n-1].End = max(told[n-1].End, len(tokens))
		}
		if c.KVVersions != nil {
			cache = c.KVVersions
		}
		if c.Final == nil {
			continue
		}
		out := *c.Final
		if !slices.Equal(tokens, out.TokenIDs) || !slices.Equal(told, out.WeightVersions) {
			err = fmt.Errorf("%s brought %v by %v, at its end %v by %v", out.RequestID, tokens, told, out.TokenIDs, out.WeightVersions)
		}
		if n := len(out.KVVersions); len(tokens) > 0 && (len(cache) != n || cache[n-1].Version != out.KVVersions[n-1].Version) {
			err = fmt.Errorf("%s told of a cache of %v, at its end of %v", out.RequestID, cache, out.KVVersions)
		}
		return out, err
	}
}
