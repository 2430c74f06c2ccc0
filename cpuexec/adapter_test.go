package cpuexec

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/internal/familytest"
	"github.com/cbactor/cbactor/model"
	"github.com/cbactor/cbactor/weights"
)

// merged is the model with W + Scale*B*A for weights.
func (s *synthetic) merged(a *model.Adapter) *synthetic {
	out := &synthetic{Config: s.Config, values: maps.Clone(s.values)}
	for _, p := range a.Parts {
		w := slices.Clone(out.values[p.Module+".weight"])
		in := len(p.A) / p.Rank
		for i := range w {
			sum := 0.0
			for k := range p.Rank {
				sum += float64(p.B[i/in*p.Rank+k]) * float64(p.A[k*in+i%in])
			}
			w[i] = float32(float64(w[i]) + p.Scale*sum)
		}
		out.values[p.Module+".weight"] = w
	}
	return out
}

// TestAdapterIsAMergedModel computes models whose matrices fit no panel, with adapters
// over all modules and over some, beside a sequence without; each is compared with the
// textbook over merged weights.
func TestAdapterIsAMergedModel(t *testing.T) {
	for name, on := range map[string]func(string) bool{
		"all":     familytest.Everywhere,
		"q and v": func(m string) bool { return strings.HasSuffix(m, "q_proj") || strings.HasSuffix(m, "v_proj") },
		"k, up, 1": func(m string) bool {
			return strings.HasSuffix(m, "1.self_attn.k_proj") || strings.HasSuffix(m, "1.mlp.up_proj")
		},
		"out and down": func(m string) bool { return strings.HasSuffix(m, "o_proj") || strings.HasSuffix(m, "down_proj") },
		"gate":         func(m string) bool { return strings.HasSuffix(m, "gate_proj") },
	} {
		for _, c := range []model.Config{odd, {
			Family: "llama", Vocab: 37, Hidden: 40, Intermediate: 70, Layers: 2, Heads: 1, KVHeads: 1, HeadDim: 2,
			MaxPosition: 128, NormEps: 1e-5, Rope: model.Rope{Kind: model.RopeDefault, Theta: 10000},
		}} {
			m := newSynthetic(c)
			set, err := weights.Load(&m.Config, m, 1, "test")
			if err != nil {
				t.Fatal(err)
			}
			a := familytest.Adapter(&m.Config, 1, 40, on)
			ids := make([]int32, 50)
			for i := range ids {
				ids[i] = int32(i * 7 % c.Vocab)
			}
			want, plain := m.merged(a).logits(ids), m.logits(ids)
			if slices.Equal(want, plain) {
				t.Fatalf("%s: the adapter adds nothing", name)
			}
			for _, set1 := range kernelNames() {
				d := newDriver(t, Config{Model: &m.Config, Weights: set, Threads: 2, Kernels: set1, PageSize: 9, MaxContext: 64, MaxAdapters: 1, MaxAdapterRank: 40}, 11, true)
				d.e.step.alone = 0
				if err := d.e.LoadAdapter("a", a); err != nil {
					t.Fatal(err)
				}
				with, without := &sequence{ids: slices.Clone(ids), limit: 1, adapter: "a"}, &sequence{ids: slices.Clone(ids), limit: 1}
				d.run(with, without)
				if off := furthest(with.logits[0], want); !(off < 5e-4) {
					t.Errorf("%s, %s: logits differ by %g", name, set1, off)
				}
				if off := furthest(without.logits[0], plain); !(off < 2e-4) {
					t.Errorf("%s, %s: beside it: logits differ by %g", name, set1, off)
				}
			}
		}
	}
}

// TestAdapterOverPieces: where q, k and v are several matrices, an adapter adds to the columns
// of each as to those of one.
func TestAdapterOverPieces(t *testing.T) {
	c := computeCase{m: wide, as: superBlocks, cfg: int8q8}
	m, set := c.load(t)
	s := randomSequences(&m.Config, 1, 50, 1)[0]
	s.adapter = "a"
	a := familytest.Adapter(&m.Config, 1, 8, familytest.Everywhere)
	stored := m.widened(set)
	plain, want := stored.logits(s.ids), stored.merged(a).logits(s.ids)
	cfg := c.with(m, set)
	cfg.Threads, cfg.MaxAdapters = 2, 1
	d := newDriver(t, cfg, 64, true)
	d.e.step.alone = 0
	if n := len(d.e.places[0].Ready.layers[0].matrices[jointQKV]); n != 2 {
		t.Fatalf("q, k and v are %d matrices, want 2", n)
	}
	if err := d.e.LoadAdapter("a", a); err != nil {
		t.Fatal(err)
	}
	d.run(s)
	off, without := distance(s.logits[0], want), distance(s.logits[0], plain)
	t.Logf("off by %.4f, of what it is without by %.4f", off, without)
	if !(off < 0.05) || without < 0.2 {
		t.Errorf("logits are off by %.4f of their size, without an adapter by %.4f", off, without)
	}
}

// TestAdapterBits runs sequences with several adapters alone and in mixed batches, in
// chunks of many sizes, on every instruction set and number of threads: no bit of the
// logits differs. Those without one have the bits of an executor that has none.
func TestAdapterBits(t *testing.T) {
	m, set := loadModel(t, family("llama"))
	n := sized(24, 12)
	all := randomSequences(m, n, 40, 3)
	cfg := base(m, set)
	plain := newDriver(t, cfg, 16, true)
	load := func(d *driver) {
		for i := range 3 {
			on := func(module string) bool { return i < 2 || strings.HasSuffix(module, "q_proj") }
			if err := d.e.LoadAdapter(fmt.Sprint(i), familytest.Adapter(m, uint64(i), 3+10*i, on)); err != nil {
				t.Fatal(err)
			}
		}
	}
	cfg.MaxAdapters = 3
	alone := newDriver(t, cfg, 64, true)
	load(alone)
	for i, s := range all {
		if i%4 == 0 {
			plain.run(s)
			continue
		}
		s.adapter = fmt.Sprint(i%4 - 1)
		alone.run(s)
	}
	for k, name := range kernelNames() {
		for j, chunk := range []int{1, 5, 64} {
			cfg.Kernels, cfg.Threads = name, someThreads[(j+k)%3]
			d := newDriver(t, cfg, chunk, true)
			d.e.step.alone = 0
			load(d)
			batch := make([]*sequence, n)
			for i, s := range all {
				batch[i] = s.again()
			}
			d.run(batch...)
			for i, s := range all {
				sameLogits(t, fmt.Sprintf("%s, chunks of %d, sequence %d with adapter %q", name, chunk, i, s.adapter), batch[i].logits, s.logits)
			}
		}
	}
}

// TestAdaptersAreTheReference compares adapters that PEFT has written with what PEFT
// computes: logits, and greedy tokens where they are clear.
func TestAdaptersAreTheReference(t *testing.T) {
	m, set := loadModel(t, family("llama"))
	folder := filepath.Join("..", "test", "testdata", "adapters")
	for _, kernels := range kernelNames() {
		d := newDriver(t, Config{Model: m, Weights: set, Threads: 2, Kernels: kernels, MaxContext: 256, MaxTokens: 64, MaxAdapters: 2}, 64, true)
		var all []*sequence
		goldens := map[string]*familytest.Golden{}
		for _, name := range []string{"patterns", "bf16"} {
			a, err := checkpoint.ReadAdapter(os.DirFS(filepath.Join(folder, name)), m, 32)
			if err != nil {
				t.Fatal(err)
			}
			if err := d.e.LoadAdapter(name, a); err != nil {
				t.Fatal(err)
			}
			g := familytest.ReadGolden(t, filepath.Join(folder, name))
			goldens[name] = g
			for _, p := range g.Prompts {
				all = append(all, &sequence{ids: slices.Clone(p), limit: 24, adapter: name})
			}
		}
		d.run(all...)
		worst, tokens := 0.0, 0
		for i, s := range all {
			g := goldens[s.adapter]
			at := i % len(g.Prompts)
			worst = max(worst, g.CheckLogits(t, s.adapter, at, s.logits[0]))
			tokens += g.CheckTokens(t, s.adapter, at, s.out(), nil)
		}
		t.Logf("golden: adapters, %s: logits differ by %.2g at most, %d greedy tokens equal", kernels, worst, tokens)
	}
}
