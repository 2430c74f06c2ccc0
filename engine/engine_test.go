package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/cbactor/cbactor/cuda/emu"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/sampling"
)

const echoVocab = 50021

// TestMain hides the GPUs of this computer, unless tests are to run on one: emulated ones stay.
func TestMain(m *testing.M) {
	if !emu.Hardware() {
		if err := os.Setenv("CUDA_VISIBLE_DEVICES", "-1"); err != nil {
			panic(err)
		}
	}
	goleak.VerifyTestMain(m)
}

// spawnEcho starts an engine over the ECHO executor.
func spawnEcho(t testing.TB, ec executor.EchoConfig, cfg Config) *Engine {
	t.Helper()
	cfg.Executor = executor.NewEcho(ec)
	e, err := Spawn(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

func ids(n, salt int) []int32 {
	p := make([]int32, n)
	for i := range p {
		p[i] = int32((i*7919 + salt*104729 + 17) % echoVocab)
	}
	return p
}

func TestStreamGivesEveryTokenOnceAndThenTheEnd(t *testing.T) {
	e := spawnEcho(t, executor.EchoConfig{Blocks: 64}, Config{})
	s, err := e.AddRequest(t.Context(), Request{PromptIDs: ids(9, 1), MaxNewTokens: 20})
	if err != nil {
		t.Fatal(err)
	}
	var got []int32
	for {
		c, err := s.Recv(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if c.Offset != len(got) {
			t.Fatalf("a chunk at %d after %d tokens", c.Offset, len(got))
		}
		got = append(got, c.TokenIDs...)
		if c.Final != nil {
			if !slices.Equal(c.Final.TokenIDs, got) || c.Final.FinishReason != FinishLength {
				t.Errorf("final is %v %v, streamed %v", c.Final.FinishReason, c.Final.TokenIDs, got)
			}
			break
		}
	}
	if want := executor.EchoRef(ids(9, 1), 20, echoVocab, 1); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if _, err := s.Recv(t.Context()); err == nil {
		t.Error("something comes after the end")
	}
}

func TestAdmissionSaysWhyBeforeAnythingIsQueued(t *testing.T) {
	e := spawnEcho(t, executor.EchoConfig{Blocks: 8, PageSize: 16, Context: 256}, Config{MaxQueueSize: 2})
	for _, c := range []struct {
		name string
		r    Request
		want error
	}{
		{"empty", Request{}, ErrEmptyPrompt},
		{"negative id", Request{PromptIDs: []int32{1, -1}}, ErrVocab},
		{"id past the vocabulary", Request{PromptIDs: []int32{echoVocab}}, ErrVocab},
		{"prompt fills the context", Request{PromptIDs: ids(256, 1)}, ErrTooLong},
		{"prompt is larger than the cache", Request{PromptIDs: ids(129, 1), MaxNewTokens: 1}, ErrNeverFits},
		{"negative limit", Request{PromptIDs: ids(3, 1), MaxNewTokens: -1}, ErrParams},
		{"negative temperature", Request{PromptIDs: ids(3, 1), Sampling: sampling.Params{Temperature: -1}}, ErrParams},
	} {
		_, err := e.AddRequest(t.Context(), c.r)
		if !errors.Is(err, c.want) || !errors.Is(err, ErrRejected) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
	s, err := e.AddRequest(t.Context(), Request{PromptIDs: ids(128, 1), MaxNewTokens: 1}) // exactly fits
	if err != nil {
		t.Fatal(err)
	}
	if out := s.Wait(t.Context()); len(out.TokenIDs) != 1 {
		t.Errorf("got %v", out)
	}
}

func TestDuplicateAndFullQueueAreRefused(t *testing.T) {
	block := make(chan struct{})
	e := spawnEcho(t, executor.EchoConfig{Blocks: 64, Delay: func(*executor.Batch) { <-block }}, Config{MaxQueueSize: 2})
	defer close(block)
	add := func(id string) error {
		_, err := e.AddRequest(t.Context(), Request{ID: id, PromptIDs: ids(3, 1), MaxNewTokens: 2})
		return err
	}
	if err := add("a"); err != nil {
		t.Fatal(err)
	}
	if err := add("a"); !errors.Is(err, ErrDuplicateID) {
		t.Errorf("the same id twice: %v", err)
	}
	if err := add("b"); err != nil {
		t.Fatal(err)
	}
	if err := add("c"); !errors.Is(err, ErrQueueFull) || !errors.Is(err, ErrUnavailable) {
		t.Errorf("a third in a queue of two: %v", err)
	}
	e.Cancel("a")
	if err := add("c"); err != nil {
		t.Errorf("after a cancel: %v", err)
	}
}

// A request that outgrows context and cache ends with length, and nobody else with it (field report A6).
func TestOutgrowingTheCacheEndsWithLength(t *testing.T) {
	e := spawnEcho(t, executor.EchoConfig{Blocks: 8, PageSize: 16, Context: 128}, Config{})
	outs, err := e.GenerateBatch(t.Context(), []Request{{PromptIDs: ids(120, 1)}, {PromptIDs: ids(5, 2), MaxNewTokens: 4}}, BatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if outs[0].FinishReason != FinishLength || len(outs[0].TokenIDs) != 8 {
		t.Errorf("ended %s with %d tokens, want length with 8", outs[0].FinishReason, len(outs[0].TokenIDs))
	}
	if len(outs[1].TokenIDs) != 4 {
		t.Errorf("the other got %d tokens, want 4", len(outs[1].TokenIDs))
	}
}

func TestCancelKeepsTheTokensSoFar(t *testing.T) {
	e := spawnEcho(t, executor.EchoConfig{Blocks: 64, Delay: func(*executor.Batch) { time.Sleep(time.Millisecond) }}, Config{})
	ctx, cancel := context.WithCancel(t.Context())
	s, err := e.AddRequest(t.Context(), Request{PromptIDs: ids(5, 1), MaxNewTokens: 500})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Recv(t.Context()); err != nil {
		t.Fatal(err)
	}
	cancel()
	out := s.Wait(ctx)
	if out.FinishReason != FinishCancelled || len(out.TokenIDs) == 0 || out.Usage.CompletionTokens != len(out.TokenIDs) {
		t.Errorf("ended %s with %d tokens", out.FinishReason, len(out.TokenIDs))
	}
	if want := executor.EchoRef(ids(5, 1), len(out.TokenIDs), echoVocab, 1); !slices.Equal(out.TokenIDs, want) {
		t.Errorf("got %v, want %v", out.TokenIDs, want)
	}
	e.Cancel(s.ID())
	e.Cancel("nobody")
}

func TestEndOfSequenceIDs(t *testing.T) {
	e := spawnEcho(t, executor.EchoConfig{Blocks: 64}, Config{})
	want := executor.EchoRef(ids(5, 1), 10, echoVocab, 1)
	for _, c := range []struct {
		r      Request
		tokens int
		reason FinishReason
	}{
		{Request{EOS: []int32{want[3], want[6]}}, 4, FinishStop},
		{Request{EOS: []int32{want[3]}, IgnoreEOS: true}, 10, FinishLength},
		{Request{EOS: []int32{-1}}, 10, FinishLength},
	} {
		c.r.PromptIDs, c.r.MaxNewTokens = ids(5, 1), 10
		s, err := e.AddRequest(t.Context(), c.r)
		if err != nil {
			t.Fatal(err)
		}
		if out := s.Wait(t.Context()); out.FinishReason != c.reason || !slices.Equal(out.TokenIDs, want[:c.tokens]) {
			t.Errorf("%+v: ended %s with %v", c.r, out.FinishReason, out.TokenIDs)
		}
	}
}

func TestGenerateBatchKeepsOrderAndErrorsApart(t *testing.T) {
	e := spawnEcho(t, executor.EchoConfig{Blocks: 32}, Config{MaxQueueSize: 3})
	var reqs []Request
	for i := range 40 {
		reqs = append(reqs, Request{ID: fmt.Sprint("r", i), PromptIDs: ids(1+i%7, i), MaxNewTokens: 1 + i%5})
	}
	reqs[7].PromptIDs = nil
	last := Progress{}
	outs, err := e.GenerateBatch(t.Context(), reqs, BatchOptions{Progress: func(p Progress) { last = p }})
	if err != nil {
		t.Fatal(err)
	}
	for i, out := range outs {
		if i == 7 {
			if out.FinishReason != FinishFailed || !errors.Is(out.Err, ErrEmptyPrompt) {
				t.Errorf("the empty one ended %s: %v", out.FinishReason, out.Err)
			}
			continue
		}
		if want := executor.EchoRef(reqs[i].PromptIDs, reqs[i].MaxNewTokens, echoVocab, 1); out.RequestID != reqs[i].ID || !slices.Equal(out.TokenIDs, want) {
			t.Errorf("%d: %s got %v, want %v", i, out.RequestID, out.TokenIDs, want)
		}
	}
	if last.Done != 40 || last.Total != 40 {
		t.Errorf("the last progress is %+v", last)
	}
	if outs, err := e.GenerateBatch(t.Context(), nil, BatchOptions{}); len(outs) != 0 || err != nil {
		t.Errorf("no requests: %v %v", outs, err)
	}
}

// Sequences of one prompt have ids of their own, come in order behind their parent,
// and end with it when it is cancelled.
func TestSequencesOfOnePrompt(t *testing.T) {
	e := spawnEcho(t, executor.EchoConfig{Blocks: 64, Delay: func(*executor.Batch) { time.Sleep(time.Millisecond) }}, Config{})
	outs, err := e.GenerateBatch(t.Context(), []Request{{ID: "a", PromptIDs: ids(20, 1), MaxNewTokens: 5, N: 3}, {ID: "b", PromptIDs: ids(3, 2), MaxNewTokens: 5}}, BatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i, id := range []string{"a", "a/1", "a/2", "b"} {
		prompt := ids(20, 1)
		if id == "b" {
			prompt = ids(3, 2)
		}
		if outs[i].RequestID != id || !slices.Equal(outs[i].TokenIDs, executor.EchoRef(prompt, 5, echoVocab, 1)) {
			t.Errorf("%d: %s has %v", i, outs[i].RequestID, outs[i].TokenIDs)
		}
	}
	s, err := e.AddRequest(t.Context(), Request{PromptIDs: ids(20, 1), MaxNewTokens: 700, N: 3})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Children()[1].Recv(t.Context()); err != nil {
		t.Fatal(err)
	}
	e.Cancel(s.Children()[0].ID())
	e.Cancel(s.ID())
	for _, s := range append(s.Children(), s) {
		if out := s.Wait(t.Context()); out.FinishReason != FinishCancelled {
			t.Errorf("%s ended %s", s.ID(), out.FinishReason)
		}
	}
	if _, err := e.AddRequest(t.Context(), Request{PromptIDs: ids(3, 1), N: 1000}); !errors.Is(err, ErrParams) {
		t.Errorf("a thousand sequences: %v", err)
	}
}

// Arrival order, batch, chunk size and cache size never change a token: random
// arrivals, against the plain function.
func TestRandomArrivalsSameTokens(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	for range 12 {
		ec := executor.EchoConfig{PageSize: 1 + r.IntN(20), Slots: 1 + r.IntN(8), Tokens: 8 + r.IntN(40), Context: 300}
		ec.Blocks = (100 + ec.PageSize) / ec.PageSize * (1 + r.IntN(4))
		e := spawnEcho(t, ec, Config{})
		var wg sync.WaitGroup
		for i := range 30 {
			p, m := ids(1+r.IntN(80), i), 1+r.IntN(20)
			pause := time.Duration(r.IntN(2000)) * time.Microsecond
			wg.Go(func() {
				time.Sleep(pause)
				s, err := e.AddRequest(context.Background(), Request{PromptIDs: p, MaxNewTokens: m})
				if err != nil {
					t.Error(err)
					return
				}
				if out := s.Wait(context.Background()); !slices.Equal(out.TokenIDs, executor.EchoRef(p, m, echoVocab, 1)) {
					t.Errorf("%+v: prompt of %d: got %v", ec, len(p), out.TokenIDs)
				}
			})
		}
		wg.Wait()
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A model with a window generates beyond what the cache would hold of full attention,
// and one of both kinds as far as its full group reaches.
func TestSlidingWindows(t *testing.T) {
	for _, c := range []struct {
		windows []int
		reach   int
	}{{[]int{48}, 600}, {[]int{0, 48}, 129}} {
		e := spawnEcho(t, executor.EchoConfig{Blocks: 8, PageSize: 16, Tokens: 16, Context: 600, Windows: c.windows}, Config{})
		s := mustAdd(t, e, Request{PromptIDs: ids(100, 1), MaxNewTokens: 1000})
		if got := s.Wait(t.Context()).TokenIDs; !slices.Equal(got, executor.EchoRef(ids(100, 1), c.reach-100, echoVocab, 1, c.windows...)) {
			t.Errorf("windows %v: %d tokens after 100, want %d and those of the plain function", c.windows, len(got), c.reach-100)
		}
	}
}
