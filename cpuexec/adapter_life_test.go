package cpuexec

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/internal/familytest"
	"github.com/cbactor/cbactor/model"
	"github.com/cbactor/cbactor/weights"
)

// read makes a synthetic model of a checkpoint's set.
func read(m *model.Config, set *weights.Set) *synthetic {
	s := &synthetic{Config: *m, values: map[string][]float32{}}
	for _, want := range m.Tensors() {
		t, _ := set.Tensor(want.Name)
		v := make([]float32, t.Elements())
		model.Dequantize(v, t.Data, t.DType)
		s.values[want.Name] = v
	}
	return s
}

// TestAdapterGeneratesAsMergedModel compares, over golden checkpoints with weights of their
// own and of families that have modules in one tensor, norms of queries or experts, an
// executor with an adapter with one whose weights have it merged: logits, and greedy tokens
// up to where two logits lie close.
func TestAdapterGeneratesAsMergedModel(t *testing.T) {
	paths := map[string]string{}
	for _, name := range families {
		paths[name] = family(name)
	}
	for _, m := range familytest.Models(t) {
		if m.Name == "phi3" || m.Name == "gemma3" || m.Name == "qwen3-moe-odd" || m.Name == "gpt-oss" {
			paths[m.Name] = m.Folder(t)
		}
	}
	for i, name := range slices.Sorted(maps.Keys(paths)) {
		m, set := loadModel(t, paths[name])
		a := familytest.Adapter(m, uint64(i), 16, familytest.Everywhere)
		merged := read(m, set).merged(a)
		mergedSet, err := weights.Load(m, merged, 1, "merged")
		if err != nil {
			t.Fatal(err)
		}
		cfg := Config{Model: m, Weights: set, Threads: 2, MaxContext: 256, MaxAdapters: 1}
		with := newDriver(t, cfg, 64, true)
		if err := with.e.LoadAdapter("a", a); err != nil {
			t.Fatal(err)
		}
		cfg.Weights = mergedSet
		into := newDriver(t, cfg, 64, true)
		compared := 0
		for _, s := range randomSequences(m, 6, 60, 24) {
			s.sampling.Temperature, s.adapter = 0, "a"
			with.run(s)
			other := s.again()
			other.adapter = ""
			into.run(other)
			for j, want := range other.logits {
				wide := make([]float64, len(want))
				for k, v := range want {
					wide[k] = float64(v)
				}
				if off := furthest(s.logits[j], wide); !(off < 1e-3) {
					t.Fatalf("%s: logits of token %d differ by %g", name, j, off)
				}
				if slices.Sort(wide); wide[len(wide)-1]-wide[len(wide)-2] < 2e-3 {
					break // the tokens may differ from here on
				}
				if compared++; s.out()[j] != other.out()[j] {
					t.Fatalf("%s: token %d is %d, merged %d", name, j, s.out()[j], other.out()[j])
				}
			}
		}
		if compared < 72 {
			t.Errorf("%s: only %d of 144 tokens were clear", name, compared)
		}
	}
}

// TestCloseWhileAdaptersLoad closes beside goroutines that load: each gets its adapter
// or ErrClosed, and memory is freed behind the last.
func TestCloseWhileAdaptersLoad(t *testing.T) {
	m, set := loadModel(t, family("llama"))
	a := familytest.Adapter(m, 1, 8, familytest.Everywhere)
	for range 20 {
		e, err := New(Config{Model: m, Weights: set, Threads: 1, MaxContext: 64, MaxAdapters: 8})
		if err != nil {
			t.Fatal(err)
		}
		var wait sync.WaitGroup
		for i := range 8 {
			wait.Go(func() {
				if err := e.LoadAdapter(fmt.Sprint(i), a); err != nil && !errors.Is(err, executor.ErrClosed) {
					t.Errorf("load: %v", err)
				}
			})
		}
		for begun := false; !begun; {
			e.mu.Lock()
			begun = e.packing > 0
			for i := range 8 {
				begun = begun || e.adapters.find(fmt.Sprint(i)) != nil
			}
			e.mu.Unlock()
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		wait.Wait()
		for _, part := range e.areas {
			if part.mem != nil {
				t.Fatal("memory is still mapped")
			}
		}
	}
}

// TestPlaceIsUsedAgain loads an adapter where another one was: not a bit differs from a new
// executor's, though sizes fit no panel and ranks are others.
func TestPlaceIsUsedAgain(t *testing.T) {
	m := newSynthetic(odd)
	set, err := weights.Load(&m.Config, m, 1, "test")
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{Model: &m.Config, Weights: set, Threads: 1, MaxContext: 64, MaxAdapters: 1, MaxAdapterRank: 40}
	first := familytest.Adapter(&m.Config, 1, 40, familytest.Everywhere)
	second := familytest.Adapter(&m.Config, 2, 9, func(name string) bool { return !strings.HasSuffix(name, "k_proj") })
	fresh, used := newDriver(t, cfg, 64, true), newDriver(t, cfg, 64, true)
	if err := errors.Join(fresh.e.LoadAdapter("b", second), used.e.LoadAdapter("a", first), used.e.UnloadAdapter("a"), used.e.LoadAdapter("b", second)); err != nil {
		t.Fatal(err)
	}
	s := &sequence{ids: []int32{1, 2, 3, 4, 5}, limit: 6, adapter: "b"}
	fresh.run(s)
	other := s.again()
	used.run(other)
	sameLogits(t, "in a used place", other.logits, s.logits)
}

// TestRefusedAdapters loads what does not fit: nothing is taken by it.
func TestRefusedAdapters(t *testing.T) {
	m, set := loadModel(t, family("llama"))
	e := start(t, Config{Model: m, Weights: set, Threads: 1, MaxContext: 64, MaxAdapters: 1, MaxAdapterRank: 8})
	for name, change := range map[string]func(a *model.Adapter){
		"rank":    func(a *model.Adapter) { *a = *familytest.Adapter(m, 1, 100, familytest.Everywhere) },
		"module":  func(a *model.Adapter) { a.Parts[0].Module = "lm_head" },
		"twice":   func(a *model.Adapter) { a.Parts[1] = a.Parts[0] },
		"short A": func(a *model.Adapter) { a.Parts[3].A = a.Parts[3].A[1:] },
		"long B":  func(a *model.Adapter) { a.Parts[3].B = append(a.Parts[3].B, 0) },
		"nothing": func(a *model.Adapter) { a.Parts = nil },
		"rank 0":  func(a *model.Adapter) { a.Parts[0].Rank, a.Parts[0].A, a.Parts[0].B = 0, nil, nil },
		"NaN":     func(a *model.Adapter) { a.Parts[5].B[0] = float32(math.NaN()) },
	} {
		a := familytest.Adapter(m, 2, 8, familytest.Everywhere)
		change(a)
		if err := e.LoadAdapter(name, a); !errors.Is(err, model.ErrAdapter) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := e.LoadAdapter("good", familytest.Adapter(m, 2, 8, familytest.Everywhere)); err != nil {
		t.Error(err)
	}
	none := start(t, Config{Model: m, Weights: set, Threads: 1, MaxContext: 64})
	if err := none.LoadAdapter("good", familytest.Adapter(m, 2, 8, familytest.Everywhere)); !errors.Is(err, executor.ErrAdapters) {
		t.Errorf("where there may be none: %v", err)
	}
}
