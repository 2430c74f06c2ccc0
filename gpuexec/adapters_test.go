package gpuexec

import (
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/executor/suite"
	"github.com/cbactor/cbactor/internal/familytest"
	"github.com/cbactor/cbactor/model"
	"github.com/cbactor/cbactor/weights"
)

// adapterBound is what logits of the goldens of adapters may be off by in bf16. One of them changes logits
// by 5: merged into weights in bf16 it is off by more.
const adapterBound = 0.25

// TestAdaptersConform has adapters that add to some products, of ranks that are padded to different sizes.
func TestAdaptersConform(t *testing.T) {
	m, set := loadModel(t, family("llama"))
	suite.RunAdapters(t, makeWith(t, m, set, all), func(number int) *model.Adapter {
		return familytest.Adapter(m, uint64(number), 8+32*(number%2), func(module string) bool {
			return strings.HasSuffix(module, []string{"v_proj", "up_proj"}[number%2])
		})
	})
}

// TestAdaptersAreTheReference compares adapters that PEFT has written with the logits that PEFT computes,
// in bf16.
func TestAdaptersAreTheReference(t *testing.T) {
	m, set := loadModel(t, family("llama"))
	j := newJudge(t, Config{Device: emulated(t), Model: m, Weights: set, MaxContext: 256, MaxTokens: 128, MaxSlots: 2, MaxAdapters: 2})
	for _, name := range []string{"patterns", "bf16"} {
		folder := filepath.Join("..", "test", "testdata", "adapters", name)
		a, err := checkpoint.ReadAdapter(os.DirFS(folder), m, 32)
		if err != nil {
			t.Fatal(err)
		}
		load(t, j.e, name, a)
		g := familytest.ReadGolden(t, folder)
		worst, without := 0.0, 0.0
		for i, p := range g.Prompts {
			j.adapter = name
			j.run(p)
			worst = max(worst, furthest(j.logits, g.Logits[i]))
			j.adapter = ""
			j.run(p)
			without = max(without, furthest(j.logits, g.Logits[i]))
		}
		t.Logf("golden: adapter %s on the fake driver: logits differ by %.2g, without it by %.2g", name, worst, without)
		if !(worst < adapterBound) || without < 8*adapterBound {
			t.Errorf("%s: logits differ by %g, without it by %g", name, worst, without)
		}
	}
}

// merged is a checkpoint in float32 whose weights have an adapter added to them.
type merged struct {
	*checkpoint.Checkpoint
	parts model.AdapterModules
}

func (c merged) ReadTensor(name string, dst []byte) error {
	if err := c.Checkpoint.ReadTensor(name, dst); err != nil {
		return err
	}
	p := c.parts[name[:max(0, len(name)-len(".weight"))]]
	if p == nil {
		return nil
	}
	in := len(p.A) / p.Rank
	for i := range len(dst) / 4 {
		sum := float64(math.Float32frombits(binary.LittleEndian.Uint32(dst[4*i:])))
		for k := range p.Rank {
			sum += p.Scale * float64(p.B[i/in*p.Rank+k]) * float64(p.A[k*in+i%in])
		}
		binary.LittleEndian.PutUint32(dst[4*i:], math.Float32bits(float32(sum)))
	}
	return nil
}

// TestAdapterIsAMergedModel compares adapters over all modules, of models that have modules in one tensor,
// sizes that fit no tile, or experts, with their models with the adapter merged.
func TestAdapterIsAMergedModel(t *testing.T) {
	dev := emulated(t)
	for i, name := range []string{"phi3", "gemma3-odd", "qwen3-moe-odd"} {
		folder := familytest.Named(t, name).Folder(t)
		m, set := loadModel(t, folder)
		a := familytest.Adapter(m, uint64(i), 40, familytest.Everywhere)
		c, err := checkpoint.Open(folder)
		if err != nil {
			t.Fatal(err)
		}
		mergedSet, err := weights.Load(m, merged{c, a.ByModule()}, 1, "merged")
		if err := errors.Join(err, c.Close()); err != nil {
			t.Fatal(err)
		}
		cfg := Config{Device: dev, Model: m, Weights: set, MaxMemory: 64 << 20, MaxContext: 64, MaxTokens: 64, MaxSlots: 2, PageSize: 8, MaxAdapters: 1, MaxAdapterRank: 40}
		with := newJudge(t, cfg)
		cfg.Weights, cfg.MaxAdapters = mergedSet, 0
		into := newJudge(t, cfg)
		load(t, with.e, "a", a)
		ids := []int32{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4}
		with.run(ids)
		plain := slices.Clone(with.logits)
		with.adapter = "a"
		with.run(ids)
		into.run(ids)
		want := make([]float64, len(into.logits))
		for k, v := range into.logits {
			want[k] = float64(v)
		}
		off, without := furthest(with.logits, want), furthest(plain, want)
		t.Logf("%s: logits are off by %.2g, without the adapter by %.2g", name, off, without)
		if !(off < 2*familyBound) || without < 8*familyBound {
			t.Errorf("%s: logits are off by %g, without the adapter by %g", name, off, without)
		}
	}
}

// load loads an adapter.
func load(t *testing.T, e executor.Executor, name string, a *model.Adapter) {
	t.Helper()
	if err := e.(executor.Adapters).LoadAdapter(name, a); err != nil {
		t.Fatal(err)
	}
}

// TestWeightsLeaveAdapters computes with an adapter and other weights, which were loaded after it and before
// it: not a bit differs.
func TestWeightsLeaveAdapters(t *testing.T) {
	m, set := loadModel(t, family("llama"))
	_, other := loadChanged(t, family("llama"), 2, "model.norm.weight", func(data []byte) { data[3] ^= 0x80 })
	a := familytest.Adapter(m, 1, 8, familytest.Everywhere)
	cfg := Config{Device: emulated(t), Model: m, Weights: set, MaxMemory: 64 << 20, MaxContext: 64, MaxTokens: 64, MaxSlots: 2, WeightSets: 2, MaxAdapters: 1}
	var logits [2][]float32
	for i := range logits {
		j := newJudge(t, cfg)
		if i == 0 {
			load(t, j.e, "a", a)
		}
		if err := j.e.(executor.Loader).Load(t.Context(), other); err != nil {
			t.Fatal(err)
		}
		if i == 1 {
			load(t, j.e, "a", a)
		}
		j.epoch, j.adapter = 2, "a"
		j.run([]int32{1, 2, 3})
		logits[i] = j.logits
	}
	if !slices.Equal(logits[0], logits[1]) {
		t.Error("logits differ")
	}
}

// TestRefusedAdapters loads what does not fit, what there is no place for, and after Close.
func TestRefusedAdapters(t *testing.T) {
	m, set := loadModel(t, family("llama"))
	cfg := Config{Device: emulated(t), Model: m, Weights: set, MaxMemory: 64 << 20, MaxContext: 64, MaxTokens: 8, MaxSlots: 2}
	a := familytest.Adapter(m, 1, 8, familytest.Everywhere)
	if err := start(t, cfg).LoadAdapter("a", a); !errors.Is(err, executor.ErrAdapters) {
		t.Errorf("where there may be none: %v", err)
	}
	cfg.MaxAdapters, cfg.MaxAdapterRank = 1, 8
	e := start(t, cfg)
	if err := e.LoadAdapter("a", familytest.Adapter(m, 1, 100, familytest.Everywhere)); !errors.Is(err, model.ErrAdapter) {
		t.Errorf("of a larger rank: %v", err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if err := e.LoadAdapter("a", a); !errors.Is(err, executor.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}
