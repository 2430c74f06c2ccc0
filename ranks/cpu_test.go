package ranks_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/cpuexec"
	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/executor/suite"
	"github.com/cbactor/cbactor/internal/familytest"
	"github.com/cbactor/cbactor/model"
	"github.com/cbactor/cbactor/ranks"
	"github.com/cbactor/cbactor/sampling"
	"github.com/cbactor/cbactor/weights"
)

// load reads a checkpoint into epoch 1.
func load(t testing.TB, folder string) (*model.Config, *weights.Set, []model.Tensor) {
	t.Helper()
	c, err := checkpoint.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	set, err := weights.Load(c.Config, c, 1, "test")
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	return c.Config, set, c.Tensors()
}

const llama = "../test/testdata/families/llama"

// start makes an executor of so many ranks.
func start(t *testing.T, n int, cfg cpuexec.Config) *ranks.Executor {
	t.Helper()
	e, err := ranks.CPU{Config: cfg, Ranks: n, Timeout: time.Minute}.New()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func makeWith(n int, cfg cpuexec.Config) suite.Make {
	return func(t *testing.T, o suite.Options) executor.Executor {
		cfg.PageSize, cfg.NumBlocks, cfg.MaxSlots, cfg.MaxTokens, cfg.MaxContext = o.PageSize, o.Blocks, o.MaxSlots, o.MaxTokens, o.MaxContext
		cfg.MaxAdapters, cfg.WeightSets, cfg.HostBlocks, cfg.KeepLogits = o.Adapters, o.Sets, o.HostBlocks, o.KeepLogits
		return start(t, n, cfg)
	}
}

func TestConformance(t *testing.T) {
	m, set, stored := load(t, llama)
	suite.Run(t, makeWith(4, cpuexec.Config{Model: m, Weights: set, Stored: stored, Threads: 4}))
	cfg := cpuexec.Config{Model: m, Weights: set, Stored: stored, Threads: 4}
	suite.Run(t, makeWith(2, cfg))
	suite.RunAdapters(t, makeWith(2, cfg), func(number int) *model.Adapter { return adapter(m, uint64(number)) })
	suite.RunSleep(t, makeWith(2, cfg))
	suite.RunSets(t, makeWith(2, cfg), func(epoch uint32) *weights.Set { return flipped(t, epoch) })
}

// flipped is the weights with other signs for each epoch.
func flipped(t testing.TB, epoch uint32) *weights.Set {
	t.Helper()
	_, set, _ := load(t, llama)
	set.Epoch = epoch
	for tensor := range set.All() {
		size := tensor.DType.RowBytes(1)
		for i := size - 1; i < len(tensor.Data); i += (1 + int(epoch)) * size {
			tensor.Data[i] ^= 0x80
		}
	}
	return set
}

// adapter is one with numbers of its own for every module.
func adapter(m *model.Config, seed uint64) *model.Adapter {
	r := rand.New(rand.NewPCG(seed, 3))
	normal := func(n int) []float32 {
		list := make([]float32, n)
		for i := range list {
			list[i] = float32(r.NormFloat64() * 0.15)
		}
		return list
	}
	a, shapes := new(model.Adapter), m.AdapterShapes()
	for _, name := range slices.Sorted(maps.Keys(shapes)) {
		const rank = 3
		a.Parts = append(a.Parts, model.AdapterPart{
			Module: name, Rank: rank, Scale: 1.5, A: normal(rank * shapes[name][1]), B: normal(shapes[name][0] * rank),
		})
	}
	return a
}

// TestFamiliesAreTheReference compares greedy tokens and their log-probabilities of every family with the
// reference's.
func TestFamiliesAreTheReference(t *testing.T) {
	for _, f := range familytest.Models(t) {
		t.Run(f.Name, func(t *testing.T) {
			m, set, stored := load(t, f.Folder(t))
			golden := f.Golden(t)
			for _, n := range []int{2, 3, 4} {
				if n > m.KVHeads && (m.Heads%n != 0 || n%m.KVHeads != 0) {
					t.Logf("%d heads over %d: not for %d ranks", m.Heads, m.KVHeads, n)
					continue
				}
				e, err := engine.Spawn(t.Context(), engine.Config{Log: zerolog.Nop(),
					Executor: start(t, n, cpuexec.Config{Model: m, Weights: set, Stored: stored, Threads: n, MaxContext: 256, MaxTokens: 64})})
				if err != nil {
					t.Fatal(err)
				}
				var requests []engine.Request
				for _, prompt := range golden.Prompts {
					requests = append(requests, engine.Request{PromptIDs: slices.Clone(prompt), MaxNewTokens: 24, IgnoreEOS: true, Sampling: sampling.Params{Tell: sampling.Tell{Logprobs: true}}})
				}
				outs, err := e.GenerateBatch(t.Context(), requests, engine.BatchOptions{})
				if err != nil {
					t.Fatal(err)
				}
				tokens := 0
				for i, out := range outs {
					if out.Err != nil {
						t.Fatal(out.Err)
					}
					logprobs := make([]float64, len(out.Logprobs))
					for j := range logprobs {
						logprobs[j] = float64(out.Logprobs[j].Raw)
					}
					tokens += golden.CheckTokens(t, fmt.Sprintf("%d ranks", n), i, out.TokenIDs, logprobs)
				}
				t.Logf("golden: %s: %d ranks, %d greedy tokens equal", f.Name, n, tokens)
				if err := e.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
