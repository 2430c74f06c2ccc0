package engine

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/sampling"
)

func pause(t testing.TB, e *Engine, o PauseOptions) Hold {
	t.Helper()
	h, err := e.Pause(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func release(t testing.TB, h Hold) {
	t.Helper()
	if err := h.Release(""); err != nil {
		t.Fatal(err)
	}
}

// lastLogits is a Processor that keeps the logits of a request's first token.
type lastLogits struct{ first []float32 }

func (l *lastLogits) Process(_ []int32, _ int, logits []float32) error {
	if l.first == nil {
		l.first = slices.Clone(logits)
	}
	return nil
}

// Logits of a holder are those of any request, to the bit, also where running requests
// fill slots and cache, whose tokens stay what they are.
func TestLogitsUnderAHold(t *testing.T) {
	golden := goldenCases(t)
	e := spawnTiny(t, Config{Threads: 2, PageSize: 16, NumBlocks: 8, MaxRequestsPerBatch: 3})
	prompt := slices.Concat(golden[0].PromptIDs, golden[0].Greedy[:20])
	keep := new(lastLogits)
	mustAdd(t, e, Request{PromptIDs: prompt, MaxNewTokens: 1, Sampling: sampling.Params{Processor: keep}}).Wait(t.Context())
	requests := func() (all []Request) {
		for i := range 6 {
			all = append(all, Request{PromptIDs: golden[i].PromptIDs, MaxNewTokens: 60, IgnoreEOS: true})
		}
		return all
	}
	var want []Output
	for _, r := range requests() {
		want = append(want, mustAdd(t, e, r).Wait(t.Context()))
	}
	var open []*Stream
	together := pause(t, e, PauseOptions{})
	for _, r := range requests() {
		open = append(open, mustAdd(t, e, r))
	}
	release(t, together)
	for range 10 {
		until(t, "a token", func() bool { c, err := open[0].Recv(t.Context()); return err != nil || len(c.TokenIDs) > 0 })
		h := pause(t, e, PauseOptions{})
		for range 2 {
			logits, err := h.Logits(t.Context(), prompt)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(logits, keep.first) {
				t.Fatal("other logits than a request has")
			}
		}
		if s := e.Status(); s.Mode != "paused" || s.Holders != 1 {
			t.Errorf("it is %+v", s)
		}
		release(t, h)
		if _, err := h.Logits(t.Context(), prompt); !errors.Is(err, ErrHoldLost) {
			t.Errorf("logits after release: %v", err)
		}
	}
	preempted := 0
	for i, s := range open {
		out := s.Wait(t.Context())
		preempted += out.Preemptions
		if !slices.Equal(out.TokenIDs, want[i].TokenIDs) {
			t.Errorf("request %d has other tokens beside them", i)
		}
	}
	if preempted == 0 {
		t.Error("nobody was given up: the cache was not full")
	}
}

// What a holder asks wrongly, or at a wrong time, costs it an error.
func TestLogitsRefused(t *testing.T) {
	e := spawnEcho(t, executor.EchoConfig{Blocks: 8}, Config{})
	h := pause(t, e, PauseOptions{Refuse: true})
	for name, c := range map[string]struct {
		ids   []int32
		class error
	}{"nothing": {nil, ErrEmptyPrompt}, "too long": {ids(200, 1), ErrTooLong}, "not in the vocabulary": {[]int32{-1}, ErrVocab}} {
		if _, err := h.Logits(t.Context(), c.ids); !errors.Is(err, c.class) {
			t.Errorf("%s: %v", name, err)
		}
	}
	dead, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := h.Logits(dead, ids(5, 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended: %v", err)
	}
	if logits, err := h.Logits(t.Context(), ids(5, 1)); err != nil || len(logits) != echoVocab {
		t.Errorf("%d logits, %v", len(logits), err)
	}
	if err := e.Sleep(t.Context(), KV); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Logits(t.Context(), ids(5, 1)); !errors.Is(err, ErrAsleep) {
		t.Errorf("asleep: %v", err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Logits(t.Context(), ids(5, 1)); !errors.Is(err, ErrHoldLost) {
		t.Errorf("closed: %v", err)
	}
}

// Pause, Sleep and Wake in every state of an engine.
func TestPauseInEveryState(t *testing.T) {
	e := spawnTiny(t, Config{Threads: 1, NumBlocks: 32})
	calls := map[string]func(context.Context) error{
		"Pause": func(ctx context.Context) error { _, err := e.Pause(ctx, PauseOptions{}); return err },
		"Sleep": func(ctx context.Context) error { return e.Sleep(ctx, KV|Weights) },
	}
	for _, bad := range []error{
		func() error { _, err := e.Pause(t.Context(), PauseOptions{Mode: 3}); return err }(),
		func() error { _, err := e.Pause(t.Context(), PauseOptions{Lease: -1}); return err }(),
		e.Sleep(t.Context(), 0),
		e.Sleep(t.Context(), 8),
	} {
		if !errors.Is(bad, ErrParams) {
			t.Errorf("a bad parameter: %v", bad)
		}
	}
	for _, keep := range []bool{true, false} {
		if err := e.Stop(t.Context(), StopOptions{Keep: keep}); err != nil {
			t.Fatal(err)
		}
		for name, call := range calls {
			if err := call(t.Context()); !errors.Is(err, ErrNotRunning) {
				t.Errorf("%s while it is stopped: %v", name, err)
			}
		}
		if s := e.Status(); s.Mode != "stopped" {
			t.Errorf("it is %+v", s)
		}
		if err := e.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for _, sleep := range []Part{KV, Weights, KV | Weights} {
		s := mustAdd(t, e, Request{PromptIDs: []int32{1, 2, 3}, MaxNewTokens: 40, IgnoreEOS: true})
		if err := errors.Join(e.Sleep(t.Context(), sleep), e.Sleep(t.Context(), sleep)); err != nil {
			t.Fatal(err)
		}
		if s := e.Status(); s.Mode != "sleeping" || s.Asleep != sleep {
			t.Errorf("it is %+v", s)
		}
		if err := errors.Join(e.Wake(t.Context()), e.Wake(t.Context())); err != nil {
			t.Fatal(err)
		}
		if out := s.Wait(t.Context()); out.FinishReason != FinishLength {
			t.Errorf("it ended %s: %v", out.FinishReason, out.Err)
		}
	}
	h := pause(t, e, PauseOptions{Lease: time.Hour})
	if err := errors.Join(e.Sleep(t.Context(), KV|Weights), e.Close()); err != nil {
		t.Fatal(err)
	}
	<-h.Done()
	calls["Wake"] = e.Wake
	for name, call := range calls {
		if err := call(t.Context()); !errors.Is(err, ErrClosed) {
			t.Errorf("%s after Close: %v", name, err)
		}
	}
	if s := e.Status(); s.Mode != "closed" || s.Asleep != 0 {
		t.Errorf("it is %+v", s)
	}
}

// A soft stop called from inside a pause waits for it; one without waiting, a hard one
// and Close do not.
func TestStopFromInsideAPause(t *testing.T) {
	for name, stop := range map[string]func(e *Engine, h Hold) error{
		"soft": func(e *Engine, h Hold) error {
			short, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
			defer cancel()
			if err := e.Stop(short, StopOptions{}); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("a soft stop does not wait: %v", err)
			}
			release(t, h)
			return e.Join(context.Background())
		},
		"hard": func(e *Engine, _ Hold) error { return e.Stop(context.Background(), StopOptions{Hard: true}) },
		"hard after soft": func(e *Engine, _ Hold) error {
			return errors.Join(e.Stop(context.Background(), StopOptions{Async: true}), e.Stop(context.Background(), StopOptions{Hard: true}))
		},
		"close": func(e *Engine, _ Hold) error { return e.Close() },
	} {
		e := spawnEcho(t, executor.EchoConfig{Blocks: 64}, Config{})
		h := pause(t, e, PauseOptions{})
		s := mustAdd(t, e, Request{PromptIDs: ids(9, 1), MaxNewTokens: 500})
		if err := stop(e, h); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if out := s.Wait(t.Context()); (out.FinishReason == FinishLength) != (name == "soft") {
			t.Errorf("%s: what was open ended %s", name, out.FinishReason)
		}
		<-h.Done()
	}
}

// Logits are of one version, also where another one is committed in their middle, whatever
// that does to requests.
func TestLogitsOverACommit(t *testing.T) {
	for _, kv := range []KVPolicy{KVKeep, KVAbort} {
		e, g := spawnGated(t, Config{Threads: 1, WeightSets: 2, MaxBatchTokens: 8, PageSize: 8}, nil)
		newTrained(t, 1).update(t, e, "v2", KVKeep)
		logits := func() []float32 {
			h := pause(t, e, PauseOptions{})
			defer release(t, h)
			l, err := h.Logits(t.Context(), text(100))
			if err != nil {
				t.Fatal(err)
			}
			return l
		}
		want := logits()
		changeTo(t, e, FirstVersion)
		h := pause(t, e, PauseOptions{})
		g.left.Store(5)
		got := make(chan []float32)
		go func() {
			l, err := h.Logits(t.Context(), text(100))
			if err != nil {
				t.Error(err)
			}
			got <- l
		}()
		<-g.reached
		committed := g.changed(t, e, "v2", kv)
		if !slices.Equal(<-got, want) {
			t.Errorf("policy %d: the logits are not those of the version that was committed", kv)
		}
		if err := <-committed; err != nil {
			t.Error(err)
		}
		release(t, h)
	}
}
