package engine

import (
	"context"
	"errors"
	commandline "flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"
)

var reportRounds = commandline.Int("report-rounds", 8, "rounds of TestReportD3; TestReportD6 has two and a half times as many")

// Field report D3: pauses, sleeps and updates at any step; none is acknowledged while a
// step runs, no token comes in a pause, what is submitted meanwhile is not lost, and what
// came last of each is what the last weights give.
func TestReportD3AtAnyStep(t *testing.T) {
	w := newSwaps(t)
	e, g := spawnGated(t, Config{Threads: 1, PageSize: swapPage, WeightSets: 2}, nil)
	w.second.update(t, e, secondVersion, KVKeep)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 3))
	var asked []Request
	var open []*Stream
	add := func(n int) {
		for range n {
			q := Request{PromptIDs: salted(20, len(asked)), MaxNewTokens: 10 + r.IntN(30)}
			asked, open = append(asked, q), append(open, mustAdd(t, e, seeded(q)))
		}
	}
	for round := range *reportRounds {
		add(2)
		for end := g.finished.Load() + int64(r.IntN(8)); g.finished.Load() < end && g.finished.Load() < g.started.Load(); {
			time.Sleep(50 * time.Microsecond)
		}
		var h Hold
		if sleep := r.IntN(4); sleep > 0 {
			if err := e.Sleep(t.Context(), Part(sleep)); err != nil {
				t.Fatal(err)
			}
		} else {
			h = pause(t, e, PauseOptions{})
		}
		if g.started.Load() != g.finished.Load() {
			t.Fatalf("round %d: a step runs", round)
		}
		steps := g.started.Load()
		add(2)
		if r.IntN(2) == 0 {
			if err := e.Rollback(t.Context(), e.Kept(), KVRecompute); err != nil {
				t.Fatal(err)
			}
		}
		if g.started.Load() != steps {
			t.Fatalf("round %d: %d steps in a pause", round, g.started.Load()-steps)
		}
		if h != nil {
			release(t, h)
		}
		if err := e.Wake(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := e.Rollback(t.Context(), e.Kept(), KVRecompute); err != nil { // while they run
			t.Fatal(err)
		}
	}
	for i, s := range open {
		w.endsByTheLast(t, asked[i], s)
	}
}

// endsByTheLast wants all tokens of a request, and those of its last version to be what
// that gives behind the others.
func (w *swaps) endsByTheLast(t *testing.T, q Request, s *Stream) {
	t.Helper()
	out, err := followed(t.Context(), s)
	last := VersionSpan{}
	if n := len(out.WeightVersions); n > 0 {
		last = out.WeightVersions[n-1]
	}
	if err != nil || out.FinishReason != FinishLength || last.End != q.MaxNewTokens || len(out.KVVersions) != 1 {
		t.Fatalf("%s: ended %s by %v with a cache of %v: %v", out.RequestID, out.FinishReason, out.WeightVersions, out.KVVersions, err)
	}
	if want := w.rest(t, last.Version, q, 0, out.TokenIDs[:last.Start]); !slices.Equal(out.TokenIDs[last.Start:], want) {
		t.Errorf("%s: %v by %v, want %v", out.RequestID, out.TokenIDs[last.Start:], last, want)
	}
}

// Field report D6: in whatever order pause, update, submit, abort and resume come from
// several sides, every call returns in time, and at last the engine runs and every
// stream has ended.
func TestReportD6NoOrderOfCallsHangs(t *testing.T) {
	e, w := spawnTiny(t, Config{Threads: 1}), newTrained(t, 1)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 6))
	for i := range *reportRounds * 5 / 2 {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		s := shuffle{e: e, w: w, number: i, mode: PauseMode(r.IntN(3)), kv: kv(r), victim: r.IntN(4), holds: make(chan Hold, 1)}
		calls := []func(context.Context) error{s.pause, s.update, s.submit, s.abort, s.resume}
		for range 4 {
			if err := s.submit(ctx); err != nil {
				t.Fatal(err)
			}
		}
		r.Shuffle(len(calls), func(i, j int) { calls[i], calls[j] = calls[j], calls[i] })
		var all sync.WaitGroup
		for _, mine := range [][]func(context.Context) error{calls[:2], calls[2:4], calls[4:]} {
			all.Go(func() {
				for _, call := range mine {
					if err := call(ctx); err != nil {
						t.Errorf("shuffle %d: %v", i, err)
					}
				}
			})
		}
		all.Wait()
		if h := <-s.holds; h != nil {
			release(t, h)
		}
		for _, open := range s.open {
			if out := open.Wait(ctx); out.FinishReason == "" || out.FinishReason == FinishFailed || ctx.Err() != nil {
				t.Fatalf("shuffle %d: ended %q: %v", i, out.FinishReason, out.Err)
			}
		}
		if s := e.Status(); s != (Status{Mode: "running"}) {
			t.Errorf("shuffle %d: it is %+v", i, s)
		}
		cancel()
	}
}

// shuffle are calls that come in any order.
type shuffle struct {
	e      *Engine
	w      *trained
	number int
	mode   PauseMode
	kv     KVPolicy
	victim int
	holds  chan Hold // that of pause, nil: it was released

	mu   sync.Mutex
	open []*Stream
}

func (s *shuffle) pause(ctx context.Context) error {
	h, err := s.e.Pause(ctx, PauseOptions{Mode: s.mode})
	s.holds <- h
	return err
}

func (s *shuffle) update(ctx context.Context) error {
	u, err := s.e.Update(ctx, UpdateOptions{Version: fmt.Sprint("w", s.number), Manifest: s.w.manifest, KV: s.kv})
	if err != nil {
		return err
	}
	return errors.Join(s.w.send(u), u.Commit(ctx))
}

func (s *shuffle) submit(ctx context.Context) error {
	stream, err := s.e.AddRequest(ctx, Request{PromptIDs: salted(20, s.number), MaxNewTokens: 20, IgnoreEOS: true})
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		s.open = append(s.open, stream)
	}
	return err
}

func (s *shuffle) abort(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.e.Cancel(s.open[s.victim].ID())
	return nil
}

func (s *shuffle) resume(ctx context.Context) error {
	select {
	case h := <-s.holds:
		s.holds <- nil
		if h == nil {
			return nil
		}
		return h.Release("")
	default:
		return s.e.Wake(ctx)
	}
}
