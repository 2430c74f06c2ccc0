package gpuexec

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cbactor/cbactor/executor/tuning"
	"github.com/cbactor/cbactor/internal/familytest"
)

// TestTuneOnce measures what is not known, and nothing a second time.
func TestTuneOnce(t *testing.T) {
	m, set := loadModel(t, family("llama"))
	c := graphed(emulated(t), m, set, Graphs{})
	f := tuning.Effort{Scope: tuning.Largest}
	known := map[string]int{}
	var first, second []tuning.Choice
	c.Tune = tuning.Tune{Decode: f, Varlen: f, Chosen: func(list []tuning.Choice) { first = list }}
	start(t, c)
	for _, choice := range first {
		if _, twice := known[choice.Key]; twice || !choice.Measured || !strings.HasPrefix(choice.Key, "CPU as a GPU 9.0, ") {
			t.Errorf("told %v", choice)
		}
		known[choice.Key] = choice.Value
	}
	c.Tune.Known = func(key string) (int, bool) { v, ok := known[key]; return v, ok }
	c.Tune.Chosen = func(list []tuning.Choice) { second = list }
	start(t, c)
	if len(second) != len(first) || len(first) != 2 {
		t.Errorf("first %v, then %v", first, second)
	}
	for i, choice := range second {
		if choice.Measured || choice.Key != first[i].Key || choice.Value != first[i].Value {
			t.Errorf("told %v for the second time, first %v", choice, first[i])
		}
	}
}

// TestTunedIsTheSame computes with every tile that there is for a product: the logits have the same bits. All
// shapes are asked for.
func TestTunedIsTheSame(t *testing.T) {
	for _, name := range []string{"llama", "qwen3-moe"} {
		if testing.Short() && name != "llama" {
			continue
		}
		m, set := loadModel(t, familytest.Named(t, name).Folder(t))
		var logits [4][][]float32 // by tile; 0: the one that fits
		for tile := range logits {
			c := graphed(emulated(t), m, set, Graphs{})
			c.KeepLogits = func(_, _ int, row []float32) { logits[tile] = append(logits[tile], slices.Clone(row)) }
			e := start(t, c)
			asked, used := use(t, e, tile), tile > 0
			if moved := slices.ContainsFunc(asked, func(c tuning.Choice) bool { return c.Value == tile && c.Value != c.Default }); moved != used {
				t.Errorf("%s: tile %d is chosen: %t, want %t: %v", name, tile, moved, used, asked)
			}
			crowd(t, e, 0)
			if len(logits[tile]) != 18 || !slices.EqualFunc(logits[tile], logits[0], slices.Equal) {
				t.Errorf("%s: other logits with tile %d", name, tile)
			}
		}
	}
}

// TestTuneLeavesTheVendorItsOwn asks for all products that own kernels compute beside the vendor's, and for no
// other.
func TestTuneLeavesTheVendorItsOwn(t *testing.T) {
	_, cfg := vendored(t)
	cfg.Model, cfg.Weights = loadModel(t, family("llama"))
	cfg.MaxContext, cfg.MaxTokens, cfg.MaxSlots = 256, 200, 80
	keys := func(cfg Config, kept func(tokens int) bool) (list []string) {
		for _, choice := range use(t, start(t, cfg), 1) {
			var tokens int
			_, behind, _ := strings.Cut(choice.Key, ", ")
			if _, err := fmt.Sscanf(behind, "%d tokens", &tokens); err != nil {
				t.Fatal(choice.Key, err)
			}
			if kept(tokens) {
				list = append(list, choice.Key)
			}
		}
		return list
	}
	all := func(int) bool { return true }
	beside := keys(cfg, all)
	cfg.CublasLt = nil
	alone := keys(cfg, all)
	if want := keys(cfg, func(tokens int) bool { return tokens < vendorLeast }); !slices.Equal(beside, want) || len(alone) == len(want) {
		t.Errorf("asked for are %q, want %q, of %q", beside, want, alone)
	}
}

// use has a tile be known as the best of all products that it is there for, and answers what was chosen.
func use(t *testing.T, e *Executor, tile int) []tuning.Choice {
	t.Helper()
	to := &tuning.Asker{
		Known: func(string) (int, bool) { return tile, true },
		Clock: func(func() error) (time.Duration, error) { return time.Second, nil }, // all alike
	}
	f := tuning.Effort{Scope: tuning.Every, Classes: true}
	e.config.Tune = tuning.Tune{Decode: f, Varlen: f}
	trials := &trials{Executor: e, weights: e.places[0].Ready}
	if err := e.besides(func() error { return trials.all(to) }); err != nil {
		t.Fatal(err)
	}
	for _, p := range trials.products() {
		what := fmt.Sprintf("%s %s %dx%d, ", p.Product, p.Format, p.K, p.N)
		if !slices.ContainsFunc(to.Choices, func(c tuning.Choice) bool { return strings.HasPrefix(c.Key, what) }) {
			t.Errorf("%s is not asked for: %v", what, to.Choices)
		}
	}
	return to.Choices
}
