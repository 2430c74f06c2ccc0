package engine

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/cbactor/cbactor/executor"
)

// A warm-up runs a full step and every size of decoding, says how far it is, and
// leaves cache, names and tokens as they are.
func TestWarmup(t *testing.T) {
	var mu sync.Mutex
	rows := map[int]bool{}
	most := int32(0)
	e := spawnEcho(t, executor.EchoConfig{Blocks: 64, PageSize: 8, Slots: 12, Tokens: 40, Delay: func(b *executor.Batch) {
		mu.Lock()
		defer mu.Unlock()
		tokens := int32(0)
		for _, r := range b.Rows {
			tokens += r.Count
		}
		rows[len(b.Rows)], most = true, max(most, tokens)
	}}, Config{Seed: 3})
	var parts []int
	if err := e.Warmup(t.Context(), func(done, total int) { parts = append(parts, done, total) }); err != nil {
		t.Fatal(err)
	}
	if want := []int{0, 6, 1, 6, 2, 6, 3, 6, 4, 6, 5, 6, 6, 6}; !slices.Equal(parts, want) {
		t.Errorf("progress %v", parts)
	}
	mu.Lock()
	for _, n := range []int{1, 2, 4, 8, 12} {
		if !rows[n] {
			t.Errorf("no step had %d rows", n)
		}
	}
	if most != 40 {
		t.Errorf("the largest step had %d tokens of 40", most)
	}
	mu.Unlock()
	r := Request{PromptIDs: make([]int32, 40), MaxNewTokens: 8}
	r.Sampling.Temperature = 1
	out := mustAdd(t, e, r).Wait(t.Context())
	cold := mustAdd(t, spawnEcho(t, executor.EchoConfig{Blocks: 64, PageSize: 8}, Config{Seed: 3}), r).Wait(t.Context())
	if out.Usage.CachedTokens != 0 || out.RequestID != cold.RequestID || !slices.Equal(out.TokenIDs, cold.TokenIDs) {
		t.Errorf("after a warm-up %+v, without %+v", out, cold)
	}
}

// A warm-up decodes by the numbers of rows that the executor has sizes for, and by twice as many behind them.
func TestWarmupOfSizes(t *testing.T) {
	e := spawnEcho(t, executor.EchoConfig{Blocks: 64, PageSize: 8, Slots: 30, Tokens: 40}, Config{})
	e.sizes = []int{1, 2, 4, 8, 12}
	var rows []int
	for _, part := range e.warmups()[1:] {
		n := 0
		for _, r := range part {
			n += r.N
		}
		rows = append(rows, n)
	}
	if !slices.Equal(rows, []int{1, 2, 4, 8, 12, 24, 30}) {
		t.Errorf("it decodes by %v rows", rows)
	}
}

// A warm-up leaves what was in the cache as far as other blocks are free: it takes those
// first.
func TestWarmupTakesFreeBlocksFirst(t *testing.T) {
	for _, c := range []struct{ blocks, cached int }{{32, 192}, {16, 0}} {
		e := spawnEcho(t, executor.EchoConfig{Blocks: c.blocks, PageSize: 16, Tokens: 256, Slots: 16}, Config{})
		ask := func() int {
			return mustAdd(t, e, Request{PromptIDs: ids(200, 0), MaxNewTokens: 1}).Wait(t.Context()).Usage.CachedTokens
		}
		ask()
		if err := e.Warmup(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		if n := ask(); n != c.cached {
			t.Errorf("%d blocks: %d tokens found after a warm-up, want %d", c.blocks, n, c.cached)
		}
	}
}

// A warm-up runs beside requests, within a short queue, and ends with its context.
func TestWarmupBesideRequests(t *testing.T) {
	e := spawnEcho(t, executor.EchoConfig{Blocks: 16, Slots: 8, Delay: slowly}, Config{MaxQueueSize: 3})
	s := mustAdd(t, e, Request{PromptIDs: ids(5, 1), MaxNewTokens: 60})
	if err := e.Warmup(t.Context(), nil); err != nil {
		t.Error(err)
	}
	if out := s.Wait(t.Context()); !slices.Equal(out.TokenIDs, executor.EchoRef(ids(5, 1), 60, echoVocab, 1)) {
		t.Errorf("the request beside it ended %s with %v", out.FinishReason, out.TokenIDs)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := e.Warmup(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that has ended: %v", err)
	}
}

// A batch that spawns its own engine sizes it by its requests, and starts nothing for
// none.
func TestABatchSpawnsForItself(t *testing.T) {
	c := tiny(t)
	requests := []Request{{PromptIDs: []int32{1, 2, 3}, MaxNewTokens: 3, IgnoreEOS: true}, {PromptIDs: []int32{1}, MaxNewTokens: 2, N: 2, IgnoreEOS: true}}
	bad := Request{PromptIDs: []int32{1}, MaxNewTokens: 1 << 40, N: 1 << 40} // costs itself alone
	outs, err := GenerateBatch(t.Context(), Config{Checkpoint: c, Threads: 1}, append(requests, bad), BatchOptions{})
	if err != nil || len(outs) != 4 || len(outs[0].TokenIDs) != 3 || outs[2].RequestID != "req-2/1" || !errors.Is(outs[3].Err, ErrParams) {
		t.Errorf("%+v, %v", outs, err)
	}
	if outs, err := GenerateBatch(t.Context(), Config{}, nil, BatchOptions{}); outs != nil || err != nil {
		t.Errorf("for none: %v, %v", outs, err)
	}
	if _, err := GenerateBatch(t.Context(), Config{Checkpoint: c, PageSize: -1}, requests, BatchOptions{}); !errors.Is(err, ErrConfig) {
		t.Errorf("with a bad configuration: %v", err)
	}
	own := Hints{Requests: 9}
	for given, want := range map[Hints]Hints{{}: {MaxPrompt: 3, MaxNew: 3, Requests: 3}, own: own} {
		if got := hinted(Config{Hints: given}, requests).Hints; got != want {
			t.Errorf("hints %+v, want %+v", got, want)
		}
	}
}
