package test

import (
	"slices"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/engine"
)

// checker computes again what clients have read.
type checker struct{ own, turned *engine.Engine }

// newChecker makes one for a model of which clients have read, with turned weights or its own.
func newChecker(t *testing.T, path string) *checker {
	t.Helper()
	set, manifest, err := modelWeights(path)
	if err != nil {
		t.Fatal(err)
	}
	c := &checker{localEngine(t, path), localEngine(t, path)}
	turn(set)
	if err := update(t.Context(), c.turned, turned, set, manifest); err != nil {
		t.Fatal(err)
	}
	return c
}

func localEngine(t *testing.T, path string) *engine.Engine {
	t.Helper()
	model, err := checkpoint.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.Spawn(t.Context(), engine.Config{Checkpoint: model, NumBlocks: 256, Log: zerolog.Nop()})
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

// check computes each request again with the weights that have sampled its tokens, as far as it has
// come.
func (c *checker) check(t *testing.T, list []ended) {
	t.Helper()
	for _, e := range []*engine.Engine{c.own, c.turned} {
		var asked []engine.Request
		var want [][]int32
		for _, r := range list {
			for _, s := range r.Versions {
				if strings.HasPrefix(s.Version, turned) == (e == c.turned) {
					asked = append(asked, engine.Request{PromptIDs: slices.Concat(r.Prompt, r.Tokens[:s.Start]), MaxNewTokens: s.End - s.Start, IgnoreEOS: true})
					want = append(want, r.Tokens[s.Start:s.End])
				}
			}
		}
		outs, err := e.GenerateBatch(t.Context(), asked, engine.BatchOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for i, out := range outs {
			if !slices.Equal(out.TokenIDs, want[i]) {
				t.Errorf("%d tokens after %v: %v, computed again %v", len(want[i]), asked[i].PromptIDs, want[i], out.TokenIDs)
			}
		}
	}
}
