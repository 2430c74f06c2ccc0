package engine

import (
	"cmp"
	commandline "flag"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/sampling"
)

var swapSteps = commandline.Int("swap-steps", 2, "steps of a run at which TestSwapAtEveryStep changes the weights; 0: all, of longer runs")

// swapPage is the page size of all engines here: tokens may depend on it.
const swapPage = 8

// situations are those in which weights change under open requests.
var situations = []struct {
	name     string
	config   Config
	host     bool // blocks must come back from the host pool
	requests []Request
}{
	{"prefill", Config{MaxBatchTokens: 8}, false, []Request{
		{PromptIDs: salted(80, 1), MaxNewTokens: 6}, {PromptIDs: salted(80, 1), MaxNewTokens: 3}, {PromptIDs: salted(50, 2), MaxNewTokens: 6}}},
	{"decode", Config{}, false, both},
	{"swapped", Config{CPUOffloadSpace: 0.01, MaxContext: 120}, true, both},
	{"forked", Config{}, false, []Request{{PromptIDs: salted(20, 3), MaxNewTokens: 64, N: 3, Sampling: sampling.Params{Temperature: 1}}}},
	{"double-buffered", Config{UseAsyncBatching: new(true)}, false, both},
	{"one set", Config{WeightSets: 1}, false, both},
}

// both are two requests that decode side by side.
var both = []Request{{PromptIDs: salted(9, 1), MaxNewTokens: 64}, {PromptIDs: salted(30, 2), MaxNewTokens: 64}}

// salted is a prompt of the tiny model that shares no beginning with those of other salts.
func salted(n, salt int) []int32 {
	p := make([]int32, n)
	for i := range p {
		p[i] = int32((i*37 + 11 + salt*101) % 400)
	}
	return p
}

// Whenever weights change, in whatever situation and by whatever policy: no token is
// lost or comes twice, spans cover tokens and cache and ascend, what comes of a cache of
// one version is what a new engine with those weights brings behind the same tokens, and
// what comes of a mixture is what an executor brings that computes it alone. Each change
// meets somebody. At last all that is derived from either
// set is as in a new engine, to the bit.
func TestSwapAtEveryStep(t *testing.T) {
	w := newSwaps(t)
	for _, s := range situations {
		t.Run(s.name, func(t *testing.T) {
			cfg, requests := sized(s.config, s.host, s.requests)
			cfg.Threads, cfg.PageSize, cfg.WeightSets = 1, swapPage, cmp.Or(cfg.WeightSets, 2)
			e, g := spawnGated(t, cfg, nil)
			w.second.update(t, e, secondVersion, KVKeep)
			changeTo(t, e, FirstVersion)
			sum := e.digest()
			r := swapRun{w, e, g, requests, KVKeep}
			steps, stride := r.plain(t), 1
			if *swapSteps > 0 {
				stride = max(1, steps / *swapSteps)
			}
			for _, r.kv = range []KVPolicy{KVKeep, KVRecompute, KVAbort} {
				for step := 1 + rand.IntN(stride); step <= steps; step += stride {
					r.swapped(t, int64(step), int64(steps))
				}
			}
			if n := g.fromHost.Load(); s.host != (n > 0) {
				t.Errorf("%d blocks came from the host pool", n)
			}
			w.derivedAlike(t, e)
			if e.digest() != sum {
				t.Error("the first version's bytes are others")
			}
		})
	}
}

// sized makes runs short, unless weights are to change at all of their steps.
func sized(cfg Config, host bool, requests []Request) (Config, []Request) {
	tokens, blocks := 64, 16
	if *swapSteps > 0 {
		tokens, blocks = 14, 7
	}
	if host {
		cfg.NumBlocks = blocks
	}
	requests = slices.Clone(requests)
	for i := range requests {
		requests[i].MaxNewTokens = min(requests[i].MaxNewTokens, tokens)
	}
	return cfg, requests
}
