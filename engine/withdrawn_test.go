package engine

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/cbactor/cbactor/executor"
)

// fullQueue is an engine whose queue is full until the gate is closed.
func fullQueue(t *testing.T) (e *Engine, gate chan struct{}) {
	gate = make(chan struct{})
	e = spawnEcho(t, executor.EchoConfig{Blocks: 64, Delay: func(*executor.Batch) { <-gate }}, Config{MaxQueueSize: 1})
	mustAdd(t, e, Request{ID: "first", PromptIDs: ids(3, 0), MaxNewTokens: 4})
	return e, gate
}

// waiting adds a request that waits for room, and gives what became of it.
func waiting(ctx context.Context, t *testing.T, e *Engine, r Request) <-chan added {
	t.Helper()
	r.ID, r.PromptIDs, r.MaxNewTokens, r.Wait = "x", ids(3, 1), 4, true
	out := make(chan added, 1)
	go func() {
		s, err := e.AddRequest(ctx, r)
		out <- added{s, err}
	}()
	until(t, "x is known", func() bool { return e.requests.find("x") != nil })
	return out
}

type added struct {
	stream *Stream
	err    error
}

// Who reads a request by its id before it is accepted learns that it never was.
func TestReadersLearnOfARefusal(t *testing.T) {
	e, gate := fullQueue(t)
	defer close(gate)
	ctx, cancel := context.WithCancel(t.Context())
	out := waiting(ctx, t, e, Request{})
	results := make(chan Output, 2)
	go func() {
		o, err := e.Result(t.Context(), "x")
		if err != nil {
			t.Error(err)
		}
		results <- o
	}()
	until(t, "x is waited for", func() bool {
		e.requests.mu.Lock()
		defer e.requests.mu.Unlock()
		return e.requests.byID["x"].claims == 1
	})
	if err := e.Handle("x", func(c Chunk) {
		results <- *c.Final
		panic("harmless")
	}); err != nil {
		t.Fatal(err)
	}
	cancel()
	if a := <-out; !errors.Is(a.err, context.Canceled) {
		t.Fatal(a.err)
	}
	for range 2 {
		if o := <-results; o.RequestID != "x" || o.FinishReason != FinishCancelled || len(o.TokenIDs) > 0 || o.Timing.Ended.IsZero() {
			t.Errorf("%+v", o)
		}
	}
	if _, err := e.Result(t.Context(), "x"); !errors.Is(err, ErrUnknownID) {
		t.Errorf("afterwards: %v", err)
	}
}

// Those of a list that are not queued any more when the engine stops fail for their
// readers, and no result is left of them.
func TestReadersLearnOfAStop(t *testing.T) {
	e, gate := fullQueue(t)
	added := make(chan error, 1)
	go func() {
		names, err := e.AddRequests(t.Context(), []Request{{ID: "a", PromptIDs: ids(3, 1)}, {ID: "b", PromptIDs: ids(3, 2)}})
		if names[0]+names[1] != "" {
			t.Errorf("accepted: %q", names)
		}
		added <- err
	}()
	until(t, "b is known", func() bool { return e.requests.find("b") != nil })
	outs := make(chan Output, 2)
	for _, id := range []string{"a", "b"} {
		if err := e.Handle(id, func(c Chunk) { outs <- *c.Final }); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Stop(t.Context(), StopOptions{Async: true}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if o := <-outs; o.FinishReason != FinishFailed || !errors.Is(o.Err, ErrStopping) {
			t.Errorf("%+v", o)
		}
	}
	if err := <-added; !errors.Is(err, ErrStopping) {
		t.Error(err)
	}
	close(gate)
}

// A request that waits for room is cancelled as any other: it ends, as does a child of
// it, and one of a list takes none of the others with it.
func TestCancelOfARequestThatWaits(t *testing.T) {
	t.Run("request", func(t *testing.T) {
		e, gate := fullQueue(t)
		defer close(gate)
		out := waiting(t.Context(), t, e, Request{})
		e.Cancel("x")
		a := <-out
		if a.err != nil {
			t.Fatal(a.err)
		}
		if o := a.stream.Wait(t.Context()); o.FinishReason != FinishCancelled || e.requests.find("x") != nil {
			t.Errorf("%+v", o)
		}
	})
	t.Run("child", func(t *testing.T) {
		gate := make(chan struct{})
		e := spawnEcho(t, executor.EchoConfig{Blocks: 64, Delay: func(*executor.Batch) { <-gate }}, Config{MaxQueueSize: 2})
		mustAdd(t, e, Request{ID: "first", PromptIDs: ids(3, 0), MaxNewTokens: 4})
		out := waiting(t.Context(), t, e, Request{N: 2})
		e.Cancel("x/1")
		close(gate)
		a := <-out
		if a.err != nil {
			t.Fatal(a.err)
		}
		if o := a.stream.Children()[0].Wait(t.Context()); o.FinishReason != FinishCancelled {
			t.Errorf("the child: %+v", o)
		}
		if o := a.stream.Wait(t.Context()); o.FinishReason != FinishLength {
			t.Errorf("the first: %+v", o)
		}
	})
	t.Run("list", func(t *testing.T) {
		e, gate := fullQueue(t)
		names := make(chan []string, 1)
		go func() {
			n, err := e.AddRequests(t.Context(), []Request{{ID: "a", PromptIDs: ids(3, 1), MaxNewTokens: 2}, {ID: "b", PromptIDs: ids(3, 2), MaxNewTokens: 2}, {ID: "c", PromptIDs: ids(3, 3), MaxNewTokens: 2}})
			if err != nil {
				t.Error(err)
			}
			names <- n
		}()
		until(t, "c is known", func() bool { return e.requests.find("c") != nil })
		e.Cancel("a")
		e.Cancel("b")
		close(gate)
		<-names
		for id, want := range map[string]FinishReason{"a": FinishCancelled, "b": FinishCancelled, "c": FinishLength} {
			if o, err := e.Result(t.Context(), id); err != nil || o.FinishReason != want {
				t.Errorf("%s: %s, %v", id, o.FinishReason, err)
			}
		}
	})
}

// A value that can never be right is refused at once, whether there is room or not.
func TestBadParametersDoNotWaitForRoom(t *testing.T) {
	e, gate := fullQueue(t)
	defer close(gate)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for _, wait := range []bool{false, true} {
		bad := Request{PromptIDs: ids(3, 1), MaxNewTokens: 2, Wait: wait}
		bad.Sampling.TopP = 7
		if _, err := e.AddRequest(ctx, bad); !errors.Is(err, ErrParams) {
			t.Errorf("wait %t: %v, must be ErrParams", wait, err)
		}
	}
	outs, err := e.GenerateBatch(ctx, []Request{{PromptIDs: ids(3, 1), N: 2}}, BatchOptions{})
	if err != nil || !errors.Is(outs[0].Err, ErrParams) {
		t.Errorf("more sequences than the queue takes: %v, %v", outs[0].Err, err)
	}
}

// Of a list nothing is queued if one can never be served for its number of sequences, or
// since it makes no matcher.
func TestNothingOfAListIsQueuedForOneThatNeverFits(t *testing.T) {
	for name, bad := range map[string]Request{
		"n":       {PromptIDs: ids(3, 1), MaxNewTokens: 2, N: 8},
		"matcher": {PromptIDs: ids(3, 1), MaxNewTokens: 2, Stop: func() Matcher { return nil }},
		"panics":  {PromptIDs: ids(3, 1), MaxNewTokens: 2, Stop: func() Matcher { panic("no") }},
	} {
		e := spawnEcho(t, executor.EchoConfig{Blocks: 64}, Config{MaxQueueSize: 4})
		names, err := e.AddRequests(t.Context(), []Request{{PromptIDs: ids(3, 0), MaxNewTokens: 2}, bad})
		if !errors.Is(err, ErrParams) || names != nil || len(e.requests.byID) > 0 {
			t.Errorf("%s: ids %q, %v", name, names, err)
		}
	}
}

// Who waits for room with an adapter that is unloaded meanwhile is refused, and does not
// hold up the unloading.
func TestUnloadRefusesWhoWaitsForRoom(t *testing.T) {
	gate := make(chan struct{})
	e := spawnAdapters(t, executor.EchoConfig{Blocks: 64, Adapters: 1, Delay: func(*executor.Batch) { <-gate }}, Config{MaxQueueSize: 1}, "a")
	mustAdd(t, e, Request{ID: "first", PromptIDs: ids(3, 0), MaxNewTokens: 4})
	out := waiting(t.Context(), t, e, Request{Adapter: "a"})
	time.Sleep(10 * time.Millisecond) // so that it is likely to be in line, though all is well if it is not yet
	unloaded := make(chan error, 1)
	go func() { unloaded <- e.UnloadAdapter(t.Context(), "a") }()
	if a := <-out; !errors.Is(a.err, ErrUnknownAdapter) {
		t.Errorf("who waits: %v", a.err)
	}
	close(gate)
	if err := <-unloaded; err != nil {
		t.Error(err)
	}
}
