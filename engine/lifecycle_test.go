package engine

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/cbactor/cbactor/actors"
	"github.com/cbactor/cbactor/executor"
)

// A stop that keeps leaves the cache: what the next session asks for is found there,
// after a hard stop too. One that does not keep leaves none.
func TestTheNextSessionFindsTheCacheThatWasKept(t *testing.T) {
	e := spawnTiny(t, Config{PageSize: 16, MaxBatchTokens: 64, NumBlocks: 64})
	prompt := goldenCases(t)[0].PromptIDs
	for len(prompt) < 100 {
		prompt = append(prompt, prompt...)
	}
	prompt = prompt[:100]
	ask := func() Output { return mustAdd(t, e, Request{PromptIDs: prompt, MaxNewTokens: 4}).Wait(t.Context()) }
	first := ask()
	for _, c := range []struct {
		stop   StopOptions
		cached int
	}{
		{StopOptions{Keep: true}, 96},
		{StopOptions{Keep: true, Hard: true}, 96},
		{StopOptions{}, 0},
		{StopOptions{Hard: true}, 0},
	} {
		h := pause(t, e, PauseOptions{})
		open := mustAdd(t, e, Request{PromptIDs: prompt[:40], MaxNewTokens: 200, IgnoreEOS: true})
		if !c.stop.Hard { // which would end the request before it has ended by itself
			release(t, h)
		}
		if err := e.Stop(t.Context(), c.stop); err != nil {
			t.Fatal(err)
		}
		if out := open.Wait(t.Context()); c.stop.Hard != errors.Is(out.Err, ErrStopped) {
			t.Errorf("%+v: what was open ended %s: %v", c.stop, out.FinishReason, out.Err)
		}
		if err := e.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		if out := ask(); out.Usage.CachedTokens != c.cached || !slices.Equal(out.TokenIDs, first.TokenIDs) {
			t.Errorf("%+v: %d tokens found, want %d; %v, at first %v", c.stop, out.Usage.CachedTokens, c.cached, out.TokenIDs, first.TokenIDs)
		}
	}
}

// Start, Stop and Close twice, and what is asked in between.
func TestEveryCallInEveryState(t *testing.T) {
	e := spawnTiny(t, Config{Threads: 1, NumBlocks: 32})
	request := Request{PromptIDs: []int32{1, 2, 3}, MaxNewTokens: 2}
	for _, keep := range []bool{true, false} {
		if err := errors.Join(e.Start(t.Context()), e.Start(t.Context())); err != nil || !e.Running() {
			t.Fatalf("a second start: %v", err)
		}
		mustAdd(t, e, request).Wait(t.Context())
		if err := errors.Join(e.Stop(t.Context(), StopOptions{Keep: keep}), e.Stop(t.Context(), StopOptions{Keep: keep}), e.Join(t.Context())); err != nil || e.Running() {
			t.Fatalf("a second stop: %v", err)
		}
		if _, err := e.AddRequest(t.Context(), request); !errors.Is(err, ErrNotRunning) || !errors.Is(err, ErrUnavailable) {
			t.Errorf("a request: %v", err)
		}
		if _, err := e.AddRequests(t.Context(), []Request{request}); !errors.Is(err, ErrNotRunning) {
			t.Errorf("requests: %v", err)
		}
		if err := e.Warmup(t.Context(), nil); !errors.Is(err, ErrNotRunning) {
			t.Errorf("warm-up: %v", err)
		}
		if _, err := e.NextResult(t.Context()); err != io.EOF {
			t.Errorf("next result: %v", err)
		}
		e.Cancel("nobody")
	}
	if err := errors.Join(e.Start(t.Context()), e.Close(), e.Close()); err != nil {
		t.Errorf("a second close: %v", err)
	}
	for name, call := range map[string]func() error{
		"AddRequest":    func() error { _, err := e.AddRequest(t.Context(), request); return err },
		"AddRequests":   func() error { _, err := e.AddRequests(t.Context(), []Request{request}); return err },
		"GenerateBatch": func() error { _, err := e.GenerateBatch(t.Context(), []Request{request}, BatchOptions{}); return err },
		"Result":        func() error { _, err := e.Result(t.Context(), "a"); return err },
		"NextResult":    func() error { _, err := e.NextResult(t.Context()); return err },
		"Handle":        func() error { return e.Handle("a", func(Chunk) {}) },
		"Warmup":        func() error { return e.Warmup(t.Context(), nil) },
		"Start":         func() error { return e.Start(t.Context()) },
		"Stop":          func() error { return e.Stop(t.Context(), StopOptions{}) },
		"Join":          func() error { return e.Join(t.Context()) },
	} {
		if err := call(); !errors.Is(err, ErrClosed) {
			t.Errorf("%s after Close: %v", name, err)
		}
	}
	if e.Running() {
		t.Error("it runs")
	}
	e.Cancel("a")
}

// A start waits for the stop that is under way; a stop without waiting is one.
func TestStartAfterAStopUnderWay(t *testing.T) {
	for _, keep := range []bool{true, false} {
		e := spawnTiny(t, Config{Threads: 1, NumBlocks: 32})
		s := mustAdd(t, e, Request{PromptIDs: []int32{1, 2, 3}, MaxNewTokens: 300, IgnoreEOS: true})
		if err := e.Stop(t.Context(), StopOptions{Keep: keep, Async: true}); err != nil {
			t.Fatal(err)
		}
		dead, cancel := context.WithCancel(t.Context())
		cancel()
		if err := e.Start(dead); !errors.Is(err, context.Canceled) {
			t.Errorf("keep %t: a start that may not wait: %v", keep, err)
		}
		if err := e.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		if out := s.Wait(t.Context()); out.FinishReason != FinishLength {
			t.Errorf("keep %t: what was accepted ended %s", keep, out.FinishReason)
		}
		if out := mustAdd(t, e, Request{PromptIDs: []int32{1}, MaxNewTokens: 1}).Wait(t.Context()); out.FinishReason != FinishLength {
			t.Errorf("keep %t: the next one ended %s", keep, out.FinishReason)
		}
	}
}

// panicking is a sink that makes intake crash.
type panicking struct{}

func (panicking) Started()           { panic("a crash") }
func (panicking) Tokens(actors.News) {}
func (panicking) End(actors.End)     {}

// An engine that has crashed starts again where its executor can be made again, and
// says so where it cannot.
func TestStartAfterACrash(t *testing.T) {
	e := spawnTiny(t, Config{Threads: 1, NumBlocks: 32})
	crash := func(e *Engine) {
		e.session.Load().system.Submit(&actors.Submit{ID: "x", IDs: []int32{1}, MaxNew: 1, Sink: panicking{}, Reply: make(chan error, 1)})
		if err := e.Join(t.Context()); !errors.Is(err, ErrCrashed) || e.Running() {
			t.Fatalf("no crash: %v", err)
		}
	}
	for range 2 {
		crash(e)
		if _, err := e.AddRequest(t.Context(), Request{PromptIDs: []int32{1}}); !errors.Is(err, ErrNotRunning) || !errors.Is(err, ErrCrashed) {
			t.Errorf("a request: %v", err)
		}
		if err := e.Stop(t.Context(), StopOptions{}); !errors.Is(err, ErrCrashed) {
			t.Errorf("a stop: %v", err)
		}
		if err := e.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		if out := mustAdd(t, e, Request{PromptIDs: []int32{1}, MaxNewTokens: 1}).Wait(t.Context()); out.FinishReason != FinishLength {
			t.Errorf("after it a request ended %s: %v", out.FinishReason, out.Err)
		}
	}
}

// The order of life's calls does not matter, nor from how many goroutines they come.
func TestLifeInAnyOrder(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	spawn := map[string]func() *Engine{
		"own executor": func() *Engine { return spawnTiny(t, Config{Threads: 1, NumBlocks: 16}) },
		"given":        func() *Engine { return spawnEcho(t, executor.EchoConfig{Blocks: 64}, Config{}) },
	}
	for name, spawn := range spawn {
		e := spawn()
		var wg sync.WaitGroup
		for w := range 6 {
			r := rand.New(rand.NewPCG(seed, uint64(w)))
			wg.Go(func() {
				for range 25 {
					ctx, cancel := context.WithTimeout(context.Background(), time.Duration(r.IntN(4000))*time.Microsecond)
					switch r.IntN(5) {
					case 0, 1:
						check(t, "start", e.Start(ctx))
					case 2:
						check(t, "stop", e.Stop(ctx, StopOptions{Hard: r.IntN(2) == 0, Keep: r.IntN(2) == 0, Async: r.IntN(3) == 0}))
					case 3:
						check(t, "join", e.Join(ctx))
					default:
						if s, err := e.AddRequest(ctx, Request{PromptIDs: []int32{1, 2, 3}, MaxNewTokens: 1 + r.IntN(20)}); err == nil {
							s.Wait(ctx)
						} else {
							check(t, "add", err)
						}
					}
					cancel()
				}
			})
		}
		wg.Wait()
		if err := e.Start(t.Context()); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if out := mustAdd(t, e, Request{PromptIDs: []int32{1, 2, 3}, MaxNewTokens: 5, IgnoreEOS: true}).Wait(t.Context()); out.FinishReason != FinishLength {
			t.Errorf("%s: in the end a request ended %s: %v", name, out.FinishReason, out.Err)
		}
	}
}

// check refuses errors that nothing explains.
func check(t *testing.T, what string, err error) {
	for _, class := range []error{nil, context.Canceled, context.DeadlineExceeded, ErrStopping, ErrNotRunning} {
		if errors.Is(err, class) {
			return
		}
	}
	t.Errorf("%s: %v", what, err)
}
