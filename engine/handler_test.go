package engine

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/cbactor/cbactor/executor"
)

// until polls for what another goroutine brings about.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

// spawnStepwise is an engine of which each step waits for something from the channel, or
// for its end.
func spawnStepwise(t *testing.T) (*Engine, chan struct{}) {
	t.Helper()
	gate := make(chan struct{})
	return spawnEcho(t, executor.EchoConfig{Blocks: 64, Delay: func(*executor.Batch) { <-gate }}, Config{}), gate
}

// A handler gets each step's news, or all at once, as the request says.
func TestHandlersGetWhatIsAskedFor(t *testing.T) {
	want := executor.EchoRef(ids(5, 1), 12, echoVocab, 1)
	for _, streaming := range []bool{true, false} {
		e, gate := spawnStepwise(t)
		chunks := make(chan Chunk, 100)
		mustAdd(t, e, Request{PromptIDs: ids(5, 1), MaxNewTokens: 12, Streaming: streaming, Handler: func(c Chunk) { chunks <- c }})
		if streaming {
			gate <- struct{}{}
		} else {
			close(gate)
		}
		var got []int32
		n := 0
		for c := range chunks {
			if n++; n == 1 && streaming {
				close(gate) // the first token has come, before there are others
			}
			if got = append(got, c.TokenIDs...); c.Final != nil {
				break
			}
		}
		if !slices.Equal(got, want) || streaming != (n > 1) {
			t.Errorf("streaming %t: %d chunks of %v", streaming, n, got)
		}
	}
}

// A handler that is registered late has all from the beginning; one of a result that
// is kept takes it.
func TestAHandlerMayComeLate(t *testing.T) {
	e, gate := spawnStepwise(t)
	got := make(chan Chunk, 100)
	s := mustAdd(t, e, Request{ID: "open", PromptIDs: ids(5, 1), MaxNewTokens: 30})
	gate <- struct{}{}
	if _, err := s.Recv(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := e.Handle("open", func(c Chunk) { got <- c }); err != nil {
		t.Fatal(err)
	}
	close(gate)
	if c := <-got; c.Offset != 0 || len(c.TokenIDs) != 30 || c.Final == nil {
		t.Errorf("%+v", c)
	}
	mustAddAll(t, e, []Request{{ID: "kept", PromptIDs: ids(5, 1), MaxNewTokens: 2}, {ID: "kept open", PromptIDs: ids(5, 1), MaxNewTokens: 100}})
	until(t, "kept ends", func() bool { return !e.requests.find("kept").open() })
	for _, id := range []string{"kept", "kept open"} {
		if err := e.Handle(id, func(c Chunk) { got <- c }); err != nil {
			t.Fatal(err)
		}
		if c := <-got; c.RequestID != id || c.Final == nil {
			t.Errorf("%+v", c)
		}
	}
	for out := range e.Results(t.Context()) {
		t.Errorf("%s is kept as well", out.RequestID)
	}
	for _, id := range []string{"open", "kept", "kept open", "nobody"} {
		if err := e.Handle(id, func(Chunk) {}); !errors.Is(err, ErrUnknownID) {
			t.Errorf("%s: %v", id, err)
		}
	}
	if n := len(e.requests.byID); n != 0 {
		t.Errorf("%d requests are still there", n)
	}
}

// A handler that panics fails its own request, one that blocks holds up itself alone.
func TestABadHandlerCostsItsOwnRequest(t *testing.T) {
	e := spawnEcho(t, executor.EchoConfig{Blocks: 64, Delay: slowly}, Config{})
	release := make(chan struct{})
	blocked := mustAdd(t, e, Request{PromptIDs: ids(5, 1), MaxNewTokens: 20, Streaming: true, Handler: func(Chunk) { <-release }})
	bad := mustAdd(t, e, Request{PromptIDs: ids(5, 2), MaxNewTokens: 900, Streaming: true, Handler: func(Chunk) { panic("planted") }})
	mate := mustAdd(t, e, Request{PromptIDs: ids(5, 3), MaxNewTokens: 20})
	for i, s := range []*Stream{blocked, mate} {
		if out := s.Wait(t.Context()); out.FinishReason != FinishLength {
			t.Errorf("%d ended %s: %v", i, out.FinishReason, out.Err)
		}
	}
	out := bad.Wait(t.Context())
	if out.FinishReason != FinishFailed || !errors.Is(out.Err, ErrHandler) || !errors.Is(out.Err, ErrFailed) || len(out.TokenIDs) == 0 || len(out.TokenIDs) == 900 {
		t.Errorf("the bad one ended %s with %d tokens: %v", out.FinishReason, len(out.TokenIDs), out.Err)
	}
	late := mustAdd(t, e, Request{PromptIDs: ids(5, 4), MaxNewTokens: 2, Handler: func(Chunk) { panic("at the end") }})
	if out := late.Wait(t.Context()); out.FinishReason != FinishLength {
		t.Errorf("it ended %s before its handler panicked: %v", out.FinishReason, out.Err)
	}
	close(release)
}

// Without a handler a result of AddRequests is not lost: it is kept where the handler has
// panicked, before the end or at it, and where there is none to take it.
func TestTheResultOfABadHandlerIsKept(t *testing.T) {
	e := spawnEcho(t, executor.EchoConfig{Blocks: 64, Delay: slowly}, Config{})
	bad := func(Chunk) { panic("planted") }
	mustAddAll(t, e, []Request{
		{ID: "early", PromptIDs: ids(5, 1), MaxNewTokens: 900, Streaming: true, Handler: bad},
		{ID: "late", PromptIDs: ids(5, 2), MaxNewTokens: 3, Handler: bad},
		{ID: "none", PromptIDs: ids(5, 3), MaxNewTokens: 3},
	})
	if err := e.Handle("none", nil); !errors.Is(err, ErrParams) {
		t.Errorf("no handler: %v", err)
	}
	until(t, "both panic", func() bool { return e.HandlerPanics() == 2 })
	got := map[string]Output{}
	for len(got) < 3 {
		out, err := e.NextResult(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got[out.RequestID] = out
	}
	if out := got["early"]; !errors.Is(out.Err, ErrHandler) || len(out.TokenIDs) == 0 || len(out.TokenIDs) == 900 {
		t.Errorf("early ended %s with %d tokens: %v", out.FinishReason, len(out.TokenIDs), out.Err)
	}
	for _, id := range []string{"late", "none"} {
		if out := got[id]; out.FinishReason != FinishLength || len(out.TokenIDs) != 3 {
			t.Errorf("%s ended %s: %v", id, out.FinishReason, out.Err)
		}
	}
	s := mustAdd(t, e, Request{ID: "read", PromptIDs: ids(5, 4), MaxNewTokens: 3, Handler: bad})
	s.Wait(t.Context())
	until(t, "it panics", func() bool { return e.HandlerPanics() == 3 })
	for out := range e.Results(t.Context()) {
		t.Errorf("%s is kept, which has a Stream", out.RequestID)
	}
	if len(e.requests.byID) != 0 || e.requests.keeping != 0 || e.requests.kept.Len() != 0 {
		t.Errorf("%d ids are in use, %d to be kept, %d kept", len(e.requests.byID), e.requests.keeping, e.requests.kept.Len())
	}
}

// A handler's goroutine ends with its request, however that ends; other requests have
// none.
func TestHandlersGoWithTheirRequests(t *testing.T) {
	gate := make(chan struct{})
	e := spawnEcho(t, executor.EchoConfig{Blocks: 64, Slots: 2, Delay: func(*executor.Batch) { <-gate }}, Config{})
	before := runtime.NumGoroutine()
	var mu sync.Mutex
	ends := map[FinishReason]int{}
	handler := func(c Chunk) {
		if c.Final != nil {
			mu.Lock()
			defer mu.Unlock()
			ends[c.Final.FinishReason]++
		}
	}
	for i := range 10 {
		mustAdd(t, e, Request{ID: fmt.Sprint(i), PromptIDs: ids(5, i), MaxNewTokens: 3, Handler: handler})
		mustAddAll(t, e, []Request{{PromptIDs: ids(5, i), MaxNewTokens: 3}})
		mustAdd(t, e, Request{PromptIDs: ids(5, i), MaxNewTokens: 3})
	}
	until(t, "one goroutine for each handler", func() bool { return runtime.NumGoroutine() <= before+10+4 }) // some of the actors' own
	for i := range 5 {
		e.Cancel(fmt.Sprint(2 * i))
	}
	until(t, "the cancelled have ended", func() bool { // before a step could end them
		mu.Lock()
		defer mu.Unlock()
		return ends[FinishCancelled] == 5
	})
	close(gate)
	until(t, "all handlers have returned", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return ends[FinishCancelled] == 5 && ends[FinishLength] == 5
	})
	until(t, "their goroutines have ended", func() bool { return runtime.NumGoroutine() <= before+4 })
}
