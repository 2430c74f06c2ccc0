package engine

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/model"
)

// spawnWindowed spawns the tiny model with a window of 24 positions in the layers that say
// so, in turn.
func spawnWindowed(t *testing.T, cfg Config, kinds ...model.Attention) *Engine {
	t.Helper()
	cfg.PageSize, cfg.MaxBatchTokens = 16, 48
	return spawnChanged(t, cfg, func(c *model.Config) {
		c.Window, c.EOS = 24, nil
		for l := range c.Attn {
			c.Attn[l] = kinds[l%len(kinds)]
		}
	})
}

// windowRequests are long ones, some of which share a beginning.
func windowRequests(vocab int) []Request {
	r := rand.New(rand.NewPCG(4, 2))
	ids := func(n int) []int32 {
		list := make([]int32, n)
		for i := range list {
			list[i] = int32(r.IntN(vocab))
		}
		return list
	}
	first := ids(300)
	return []Request{
		{PromptIDs: first, MaxNewTokens: 260}, {PromptIDs: slices.Concat(first[:200], ids(30)), MaxNewTokens: 40},
		{PromptIDs: ids(70), MaxNewTokens: 90}, {PromptIDs: slices.Concat(first[:160], ids(5)), MaxNewTokens: 20},
	}
}

// TestWindowsTakeABoundedCache: a sequence of 560 tokens runs over a cache in which no group
// could have as many blocks as it has pages, also with others that it and they are given up
// for, and with a host pool; and all are answered what they are with room for everybody.
func TestWindowsTakeABoundedCache(t *testing.T) {
	for _, c := range []struct {
		kinds  []model.Attention
		blocks int // of 35 pages
	}{{[]model.Attention{model.Sliding}, 9}, {[]model.Attention{model.Full, model.Sliding, model.Sliding}, 19}} {
		ample := spawnWindowed(t, Config{MaxRequestsPerBatch: 4}, c.kinds...)
		requests := windowRequests(ample.Info().Vocab)
		want := outputs(t, ample, requests)
		for _, cfg := range []Config{
			{NumBlocks: c.blocks, MaxRequestsPerBatch: 4},
			{NumBlocks: c.blocks + 4, MaxRequestsPerBatch: 3, CPUOffloadSpace: 0.01},
		} {
			e := spawnWindowed(t, cfg, c.kinds...)
			info := e.Info()
			if most := info.Blocks * info.PageSize; most > 400 || info.CacheTokens < 560 {
				t.Fatalf("%v: %d blocks for everybody, a cache for %d tokens of one: nothing is shown", c.kinds, info.Blocks, info.CacheTokens)
			}
			if want := min(info.CacheTokens, info.BatchRows*info.MaxContext); info.AllTokens() != want {
				t.Errorf("%v: %d tokens of all requests fit, want %d", c.kinds, info.AllTokens(), want)
			}
			for i, got := range outputs(t, e, requests) {
				if !slices.Equal(got, want[i]) {
					t.Errorf("%v, %d blocks: request %d gives %v, want %v", c.kinds, info.Blocks, i, got, want[i])
				}
			}
			until(t, "all blocks are free", func() bool { return e.Metrics().BlocksFree == int64(info.Blocks) })
		}
	}
}

// outputs are the tokens of requests that run together.
func outputs(t *testing.T, e *Engine, requests []Request) [][]int32 {
	t.Helper()
	outs, err := e.GenerateBatch(t.Context(), requests, BatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	all := make([][]int32, len(outs))
	for i := range outs {
		if all[i] = outs[i].TokenIDs; len(all[i]) != requests[i].MaxNewTokens {
			t.Errorf("request %d has %d tokens, %v", i, len(all[i]), outs[i].Err)
		}
	}
	return all
}
