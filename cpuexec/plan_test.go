package cpuexec

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/cpuexec/kernels"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/internal/familytest"
	"github.com/cbactor/cbactor/model"
)

// TestPlanIsWhatIsTaken sums what New mapped and what was cut out of it, and what the
// samplers have, over models with and without biases and a tied head.
func TestPlanIsWhatIsTaken(t *testing.T) {
	paths := []string{"tiny", family("llama"), family("llama-rope-linear"), family("llama-rope-yarn")}
	for _, m := range familytest.Models(t) {
		if name := strings.TrimSuffix(m.Name, "-odd"); name != m.Name && !strings.HasPrefix(name, "llama") {
			paths = append(paths, m.Folder(t))
		}
	}
	for _, path := range paths {
		c, set := loadModel(t, path)
		m := *c
		m.MaxPosition = 4096 // for more than one segment
		for _, cfg := range []Config{
			{Threads: 1, PageSize: 5, MaxSlots: 3, MaxTokens: 7, MaxContext: 33},
			{Threads: 2, MaxSlots: 70, MaxTokens: 100, NumBlocks: 9, HostBlocks: 5, WeightSets: 2},
			{Threads: 1, PageSize: 3, MaxContext: 33, HostBlocks: 1},
			{Threads: 2, MaxSlots: 2, MaxTokens: 70, MaxContext: 33, MaxAdapters: 3, MaxAdapterRank: 11},
			{Threads: 3, MaxSlots: 2, MaxContext: 501, Attention: Plain},
			{Threads: 2, MaxSlots: 2, PageSize: 7, MaxContext: 1500, KVType: KVBF16},
			{Threads: 1, MaxSlots: 2, PageSize: 9, MaxContext: 3000, KVType: KVInt8, HostBlocks: 3},
		} {
			cfg.Model, cfg.Weights, cfg.MemoryLimit = &m, set, 1<<30
			plan, err := Plan(cfg)
			if err != nil {
				t.Fatal(err)
			}
			e := start(t, cfg)
			if cfg.WeightSets == 2 {
				again := loaded(t, path, 2)
				if err := e.Load(t.Context(), again); err != nil {
					t.Fatal(err)
				}
			}
			taken := int64(0)
			for i := range e.step.workers {
				taken += scratch(reflect.ValueOf(e.step.workers[i].sampler).Elem())
			}
			areas := e.areas
			for _, p := range e.places {
				areas = append(areas, p.Ready.area)
			}
			for _, a := range areas {
				taken += int64(len(a.mem))
				if left := len(a.mem) - a.used; left < 0 || left >= cacheLine {
					t.Errorf("%s: %d of %d bytes are used", path, a.used, len(a.mem))
				}
			}
			if taken != plan.Total() || e.Memory() != plan {
				t.Errorf("%s: %d bytes are taken, planned are %d", path, taken, plan.Total())
			}
			if g := e.Info().Groups; !slices.Equal(g, plan.Cache().Groups) || g[0].Host != cfg.HostBlocks {
				t.Errorf("%s: %+v, planned are %+v, %d on the host", path, g, plan.Cache().Groups, cfg.HostBlocks)
			}
		}
	}
}

// scratch is the memory of all slices of a struct.
func scratch(v reflect.Value) (bytes int64) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			bytes += scratch(v.Field(i))
		}
	case reflect.Slice:
		bytes = int64(v.Cap()) * int64(v.Type().Elem().Size())
	}
	return bytes
}

// TestPlanBlocks checks each bound of the pool. A block of the tiny model takes
// 6 layers * 2 * 2 heads * 32 * 32 positions * 4 bytes.
func TestPlanBlocks(t *testing.T) {
	m, _ := loadModel(t, "tiny")
	const block = 6 * 2 * 2 * 32 * 32 * 4
	five, err := Plan(Config{Model: m, NumBlocks: 5})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		cfg  Config
		want int
		by   executor.Bound
	}{
		{"given", Config{NumBlocks: 7}, 7, executor.ByNumBlocks},
		{"all sequences", Config{MaxSlots: 3, MaxContext: 65, NumBlocks: 1000}, 9, executor.ByUse},
		{"a quarter of the limit", Config{MemoryLimit: 4*5*block + 4*block - 1}, 5, executor.ByQuarter},
		{"what may be taken", Config{MaxMemory: five.Total()}, 5, executor.ByMaxMemory},
		{"a byte less", Config{MaxMemory: five.Total() - 1}, 4, executor.ByMaxMemory},
		{"a block more", Config{MaxMemory: five.Total() + block}, 6, executor.ByMaxMemory},
		{"default", Config{}, 32 * 1024 / 32, executor.ByUse},
	} {
		c.cfg.Model = m
		p, err := Plan(c.cfg)
		if err != nil || p.Blocks != c.want || p.BlockBytes != block || p.Bound != c.by {
			t.Errorf("%s: %d blocks of %d bytes by %q, want %d of %d by %q (%v)", c.name, p.Blocks, p.BlockBytes, p.Bound, c.want, block, c.by, err)
		}
		if c.cfg.MaxMemory > 0 && p.Total() > c.cfg.MaxMemory {
			t.Errorf("%s: %d bytes, %d may be taken", c.name, p.Total(), c.cfg.MaxMemory)
		}
	}
	if _, err := Plan(Config{Model: m, MaxMemory: 1}); !errors.Is(err, ErrMemory) {
		t.Errorf("nothing may be taken: %v", err)
	}
	if _, err := Plan(Config{Model: m, MemoryLimit: 4*block - 1}); !errors.Is(err, ErrMemory) {
		t.Errorf("less than a block: %v", err)
	}
}

// TestPlanHost checks that the host pool is as large as asked for or refused: it has
// what all else leaves of the limit.
func TestPlanHost(t *testing.T) {
	m, _ := loadModel(t, "tiny")
	const block = 6 * 2 * 2 * 32 * 32 * 4
	two, err := Plan(Config{Model: m, NumBlocks: 2})
	if err != nil {
		t.Fatal(err)
	}
	limit := two.Total() + 5*block
	for _, c := range []struct {
		host         int
		limit, inUse int64
		want         error
	}{
		{0, limit, 0, nil},
		{0, limit, 6 * block, nil},
		{5, limit, 0, nil},
		{6, limit, 0, ErrMemory},
		{5, limit - 1, 0, ErrMemory},
		{4, limit, block, nil},
		{5, limit, 1, ErrMemory},
		{1 << 20, 0, 0, nil},
		{1<<31 - 1, 1 << 40, 0, ErrMemory},
		{-1, 0, 0, ErrConfig},
		{0, limit, -1, ErrConfig},
	} {
		p, err := Plan(Config{Model: m, NumBlocks: 2, HostBlocks: c.host, MemoryLimit: c.limit, InUse: c.inUse})
		if !errors.Is(err, c.want) {
			t.Errorf("%d host blocks within %d bytes of which %d are in use: %v, want %v", c.host, c.limit, c.inUse, err, c.want)
		}
		if err == nil && p.Host != int64(c.host)*block {
			t.Errorf("%d host blocks take %d bytes", c.host, p.Host)
		}
	}
}

func TestRefusedConfigs(t *testing.T) {
	m, set := loadModel(t, family("llama"))
	change := func(f func(m *model.Config)) *model.Config {
		c := *m
		f(&c)
		return &c
	}
	_, other := loadModel(t, family("llama-rope-linear"))
	for _, c := range []struct {
		name string
		cfg  Config
		want error
	}{
		{"no model", Config{Weights: set}, ErrConfig},
		{"no weights", Config{Model: m}, ErrConfig},
		{"negative threads", Config{Model: m, Weights: set, Threads: -1}, ErrConfig},
		{"huge page", Config{Model: m, Weights: set, PageSize: 1 << 20}, ErrConfig},
		{"context beyond the model's", Config{Model: m, Weights: set, MaxContext: m.MaxPosition + 1}, ErrConfig},
		{"negative host pool", Config{Model: m, Weights: set, HostBlocks: -1}, ErrConfig},
		{"host pool beyond the limit", Config{Model: m, Weights: set, HostBlocks: 1000, MemoryLimit: 1 << 20}, ErrMemory},
		{"negative limit", Config{Model: m, Weights: set, MemoryLimit: -1}, ErrConfig},
		{"negative maximum", Config{Model: m, Weights: set, MaxMemory: -1}, ErrConfig},
		{"negative adapters", Config{Model: m, Weights: set, MaxAdapters: -1}, ErrConfig},
		{"huge rank", Config{Model: m, Weights: set, MaxAdapterRank: 1 << 20}, ErrConfig},
		{"unknown attention", Config{Model: m, Weights: set, Attention: "auto"}, ErrConfig},
		{"unknown kernels", Config{Model: m, Weights: set, Kernels: "mmx"}, kernels.ErrUnavailable},
		{"another family", Config{Model: change(func(m *model.Config) { m.Family = "mamba" }), Weights: set}, ErrModel},
		{"sliding layer without a window", Config{Model: change(func(m *model.Config) { m.Attn = []model.Attention{model.Sliding} }), Weights: set}, ErrModel},
		{"odd head", Config{Model: change(func(m *model.Config) { m.HeadDim = 15 }), Weights: set}, ErrModel},
		{"wrong shape", Config{Model: change(func(m *model.Config) { m.Hidden = 80 }), Weights: set}, ErrConfig},
		{"missing tensor", Config{Model: change(func(m *model.Config) { m.MLPBias = true }), Weights: other}, ErrConfig},
	} {
		if e, err := New(c.cfg); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
			if err == nil {
				t.Log(e.Close())
			}
		}
	}
}
