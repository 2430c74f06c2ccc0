package engine

import (
	"fmt"
	"testing"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/internal/familytest"
	"github.com/cbactor/cbactor/sampling"
)

// TestFamiliesAreTheReference generates behind all prompts of each family in one batch, and once
// more over what the prefix cache then has: greedy tokens and log-probabilities are the
// reference's.
func TestFamiliesAreTheReference(t *testing.T) {
	for _, m := range familytest.Models(t) {
		t.Run(m.Name, func(t *testing.T) {
			g, path := m.Golden(t), m.Folder(t)
			tokens, cached := 0, 0
			for _, cfg := range []Config{{PageSize: 4, MaxBatchTokens: 12, MaxRequestsPerBatch: 12}, {PageSize: 16}, {PageSize: 32}} {
				e := spawnPath(t, path, cfg)
				for range 2 {
					n, c := generateGolden(t, e, g, fmt.Sprintf("pages of %d", cfg.PageSize))
					tokens, cached = tokens+n, cached+c
				}
			}
			if cached == 0 {
				t.Error("no prompt took anything from the prefix cache")
			}
			t.Logf("golden: %s: %d greedy tokens equal, %d of the prompts' shared", m.Name, tokens, cached)
		})
	}
}

// spawnPath starts an engine in float32 with the model of a path.
func spawnPath(t *testing.T, path string, cfg Config) *Engine {
	t.Helper()
	c, err := checkpoint.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Compute, cfg.KVDType, cfg.Threads = "f32", "f32", 2
	return spawnOpened(t, cfg, c)
}

// generateGolden answers how many tokens it has compared, and how many of prompts were
// shared.
func generateGolden(t *testing.T, e *Engine, g *familytest.Golden, what string) (tokens, cached int) {
	t.Helper()
	var reqs []Request
	for i, p := range g.Prompts {
		r := Request{PromptIDs: p, MaxNewTokens: len(g.Greedy[i]), IgnoreEOS: true}
		r.Sampling.Tell = sampling.Tell{Logprobs: true}
		reqs = append(reqs, r)
	}
	outs, err := e.GenerateBatch(t.Context(), reqs, BatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range outs {
		logprobs := make([]float64, len(outs[i].Logprobs))
		for j := range logprobs {
			logprobs[j] = float64(outs[i].Logprobs[j].Raw)
		}
		tokens += g.CheckTokens(t, what, i, outs[i].TokenIDs, logprobs)
		cached += outs[i].Usage.CachedTokens
	}
	return tokens, cached
}
