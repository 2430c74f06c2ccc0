package engine

import (
	"context"
	"errors"
	"github.com/cbactor/cbactor/actors"
	"slices"
	"testing"
	"time"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/executor"
)

func slowly(*executor.Batch) { time.Sleep(time.Millisecond) }

func mustAdd(t *testing.T, e *Engine, r Request) *Stream {
	t.Helper()
	s, err := e.AddRequest(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// together has requests begin in one step, and gives what comes of them.
func together(t *testing.T, e *Engine, list ...Request) (outs []Output) {
	t.Helper()
	h := pause(t, e, PauseOptions{})
	var open []*Stream
	for _, r := range list {
		open = append(open, mustAdd(t, e, r))
	}
	release(t, h)
	for _, s := range open {
		outs = append(outs, s.Wait(t.Context()))
	}
	return outs
}

// A cancelled request gives its slot and its blocks to the next one.
func TestCancelMakesRoom(t *testing.T) {
	e := spawnEcho(t, executor.EchoConfig{Slots: 1, Blocks: 64, Delay: slowly}, Config{})
	first := mustAdd(t, e, Request{PromptIDs: ids(5, 1), MaxNewTokens: 1000})
	next := mustAdd(t, e, Request{PromptIDs: ids(5, 2), MaxNewTokens: 3})
	if _, err := first.Recv(t.Context()); err != nil {
		t.Fatal(err)
	}
	e.Cancel(first.ID())
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if out := next.Wait(ctx); out.FinishReason != FinishLength {
		t.Errorf("the next one ended %s", out.FinishReason)
	}
}

// The request lives as long as its context, in every sequence of it.
func TestTheContextOfARequestEndsIt(t *testing.T) {
	e := spawnEcho(t, executor.EchoConfig{Blocks: 64, Delay: slowly}, Config{})
	ctx, cancel := context.WithCancel(t.Context())
	s, err := e.AddRequest(ctx, Request{PromptIDs: ids(5, 1), MaxNewTokens: 500, N: 3})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Children()[1].Recv(t.Context()); err != nil {
		t.Fatal(err)
	}
	e.Cancel(s.Children()[0].ID())
	cancel()
	for _, s := range append(s.Children(), s) {
		if out := s.Wait(t.Context()); out.FinishReason != FinishCancelled {
			t.Errorf("%s ended %s", s.ID(), out.FinishReason)
		}
	}
	if _, err := e.AddRequest(ctx, Request{PromptIDs: ids(5, 1)}); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that has ended: %v", err)
	}
}

// A second request under an id that is in use is refused and touches nobody, also
// when its context has ended; nor does a stream whose id was used again.
func TestADuplicateLeavesTheFirstAlone(t *testing.T) {
	e := spawnEcho(t, executor.EchoConfig{Blocks: 64, Delay: slowly}, Config{})
	old := mustAdd(t, e, Request{ID: "a", PromptIDs: ids(3, 1), MaxNewTokens: 1})
	old.Wait(t.Context())
	first := mustAdd(t, e, Request{ID: "a", PromptIDs: ids(5, 1), MaxNewTokens: 40})
	dead, cancel := context.WithCancel(t.Context())
	cancel()
	for range 20 {
		if _, err := e.AddRequest(dead, Request{ID: "a", PromptIDs: ids(5, 1)}); err == nil {
			t.Fatal("a duplicate was taken in")
		}
	}
	old.record.cancel()
	if out := first.Wait(t.Context()); out.FinishReason != FinishLength {
		t.Errorf("the first ended %s with %d tokens", out.FinishReason, len(out.TokenIDs))
	}
}

func TestUnnamedRequestsSkipNamesInUse(t *testing.T) {
	e := spawnEcho(t, executor.EchoConfig{Blocks: 64, Delay: slowly}, Config{})
	mustAdd(t, e, Request{ID: "req-1", PromptIDs: ids(3, 1), MaxNewTokens: 900})
	if s := mustAdd(t, e, Request{PromptIDs: ids(3, 2), MaxNewTokens: 1}); s.ID() != "req-2" {
		t.Errorf("the unnamed one is called %s", s.ID())
	}
}

// What the caller gets is the caller's: writing to it changes nobody's tokens.
func TestOutputsAndRequestsAreTheCallers(t *testing.T) {
	e := spawnEcho(t, executor.EchoConfig{Blocks: 64, Delay: slowly}, Config{})
	prompt, eos := ids(40, 1), []int32{50000}
	s := mustAdd(t, e, Request{PromptIDs: prompt, MaxNewTokens: 30, EOS: eos})
	eos[0] = executor.EchoRef(ids(40, 1), 5, echoVocab, 1)[4]
	for i := range prompt {
		prompt[i] = -1
	}
	mate := mustAdd(t, e, Request{PromptIDs: ids(30, 2), MaxNewTokens: 30})
	e.Cancel(mate.ID())
	out := mate.Wait(t.Context())
	for i := range out.PromptIDs {
		out.PromptIDs[i] = -1
	}
	_ = append(out.PromptIDs, -1, -1)
	if got := s.Wait(t.Context()); !slices.Equal(got.TokenIDs, executor.EchoRef(ids(40, 1), 30, echoVocab, 1)) {
		t.Errorf("ended %s with %v: %v", got.FinishReason, got.TokenIDs, got.Err)
	}
}

// A stream takes memory for what came, not for what could have come.
func TestAStreamIsAsLargeAsItsTokens(t *testing.T) {
	e := spawnEcho(t, executor.EchoConfig{Blocks: 64, Context: 1 << 17}, Config{})
	out := mustAdd(t, e, Request{PromptIDs: ids(3, 1), EOS: executor.EchoRef(ids(3, 1), 1, echoVocab, 1)}).Wait(t.Context())
	r := &record{versions: newVersions()}
	for range 1000 {
		r.Tokens(actors.News{IDs: []int32{7}, Epoch: 1})
	}
	if n := cap(r.tokens); len(out.TokenIDs) != 1 || n > 2048 {
		t.Errorf("room for %d tokens after 1000", n)
	}
}

func TestStoppingRefusesAndACancelMayBeWhatItWaitsFor(t *testing.T) {
	e := spawnEcho(t, executor.EchoConfig{Blocks: 64, Delay: slowly}, Config{})
	s := mustAdd(t, e, Request{PromptIDs: ids(5, 1), MaxNewTokens: 1000})
	stopped := make(chan error)
	go func() { stopped <- e.Stop(context.Background(), StopOptions{}) }()
	for {
		s, err := e.AddRequest(t.Context(), Request{PromptIDs: ids(5, 1), MaxNewTokens: 1})
		if errors.Is(err, ErrStopping) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		s.Wait(t.Context()) // so that the queue is not full before the stop begins
	}
	e.Cancel(s.ID())
	select {
	case err := <-stopped:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(5 * time.Second):
		t.Fatal("the stop does not notice that nothing is open any more")
	}
	if _, err := e.GenerateBatch(t.Context(), []Request{{PromptIDs: ids(3, 1)}}, BatchOptions{}); !errors.Is(err, ErrNotRunning) {
		t.Errorf("a batch after the stop: %v", err)
	}
}

// A count of sequences that can never be served is refused, not waited with, and
// takes no memory before it is.
func TestTooManySequencesAreRefused(t *testing.T) {
	e := spawnEcho(t, executor.EchoConfig{Blocks: 64}, Config{MaxQueueSize: 2})
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	outs, err := e.GenerateBatch(ctx, []Request{{PromptIDs: ids(3, 1), MaxNewTokens: 2, N: 3}, {PromptIDs: ids(3, 1), N: 1 << 40}, {PromptIDs: ids(3, 1), N: -5}, {PromptIDs: ids(3, 1), MaxNewTokens: 2, N: 2}}, BatchOptions{})
	if err != nil || len(outs) != 3+1+1+2 {
		t.Fatalf("%d outputs: %v", len(outs), err)
	}
	for i, out := range outs[:5] {
		if !errors.Is(out.Err, ErrParams) {
			t.Errorf("output %d ended %s: %v", i, out.FinishReason, out.Err)
		}
	}
	for _, out := range outs[5:] {
		if out.FinishReason != FinishLength {
			t.Errorf("two sequences in a queue of two: %s %v", out.FinishReason, out.Err)
		}
	}
}

func TestPreemptionsAreCounted(t *testing.T) {
	e := spawnEcho(t, executor.EchoConfig{Blocks: 10, PageSize: 16}, Config{})
	outs := together(t, e, Request{PromptIDs: ids(50, 1), MaxNewTokens: 50}, Request{PromptIDs: ids(50, 2), MaxNewTokens: 50})
	if outs[0].Preemptions != 0 || outs[1].Preemptions == 0 {
		t.Errorf("given up %d and %d times", outs[0].Preemptions, outs[1].Preemptions)
	}
}

// An executor whose groups share memory by sectors is run as it says: 20 sectors of 2
// blocks of full attention or 3 of a window hold what these requests need in turn.
func TestGroupsOfAnExecutorShareItsSectors(t *testing.T) {
	e := spawnEcho(t, executor.EchoConfig{PageSize: 4, Windows: []int{0, 9}, Sectors: 20, PerSector: []int{2, 3}, HostBlocks: 6, Outstanding: 2}, Config{})
	var requests []Request
	for i := range 12 {
		requests = append(requests, Request{PromptIDs: ids(10+3*i, i), MaxNewTokens: 15})
	}
	results, err := e.GenerateBatch(t.Context(), requests, BatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range results {
		if want := executor.EchoRef(requests[i].PromptIDs, 15, echoVocab, 1, 0, 9); !slices.Equal(r.TokenIDs, want) {
			t.Errorf("request %d: %v (%v), want %v", i, r.TokenIDs, r.Err, want)
		}
	}
}

func TestExecutorsThatNothingCanRunOnAreRefused(t *testing.T) {
	for name, info := range map[string]executor.Info{
		"nothing":           {},
		"no slots":          {PageSize: 16, Groups: []executor.Group{{Blocks: 4}}, MaxTokens: 8, MaxContext: 64, Vocab: 10, MaxOutstanding: 1},
		"half a sector":     {PageSize: 16, Groups: []executor.Group{{Blocks: 9, PerSector: 2}}, Sectors: 4, MaxSlots: 4, MaxTokens: 8, MaxContext: 64, Vocab: 10, MaxOutstanding: 1},
		"no sector for one": {PageSize: 16, Groups: []executor.Group{{Blocks: 2, PerSector: 2}, {Blocks: 3, PerSector: 3, Window: 4}}, Sectors: 1, MaxSlots: 4, MaxTokens: 8, MaxContext: 64, Vocab: 10, MaxOutstanding: 1},
		"no group":          {PageSize: 16, MaxSlots: 4, MaxTokens: 8, MaxContext: 64, Vocab: 10, MaxOutstanding: 1},
	} {
		if _, err := Spawn(t.Context(), Config{Executor: fixed{info: info}}); !errors.Is(err, ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ok := executor.NewEcho(executor.EchoConfig{})
	defer func() {
		if err := ok.Close(); err != nil {
			t.Error(err)
		}
	}()
	for _, cfg := range []Config{{}, {Executor: ok, Threads: 1}, {Executor: ok, MaxContext: 1 << 20}, {Executor: ok, MaxQueueSize: -1}, {Checkpoint: new(checkpoint.Checkpoint), Compute: "f8"}} {
		if _, err := Spawn(t.Context(), cfg); !errors.Is(err, ErrConfig) {
			t.Errorf("%+v: %v", cfg, err)
		}
	}
}

// fixed is an executor that only says what it can do.
type fixed struct {
	executor.Executor
	info executor.Info
}

func (f fixed) Info() executor.Info { return f.info }

func TestTheEnginesSeedDrawsThoseOfRequests(t *testing.T) {
	a, b := &Engine{info: Info{Seed: 1}}, &Engine{info: Info{Seed: 2}}
	seed := func(e *Engine, own *uint64, id string) uint64 {
		return e.seed(&Order{Request: Request{ID: id, Seed: own}})
	}
	own := uint64(9)
	switch {
	case seed(a, nil, "x") != SeedOf(1, "x"), seed(a, &own, "x") != own:
		t.Error("the same request draws another seed")
	case seed(a, nil, "x") == seed(a, nil, "y"), seed(a, nil, "x") == seed(b, nil, "x"):
		t.Error("different requests or engines draw the same seed")
	}
}
