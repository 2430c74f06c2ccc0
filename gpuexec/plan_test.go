package gpuexec

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/cuda"
	"github.com/cbactor/cbactor/cuda/emu"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/internal/familytest"
	"github.com/cbactor/cbactor/model"
)

// free is how much memory of the device is not taken, as the driver says.
func free(t *testing.T, d *cuda.Device) int64 {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	ctx, err := d.Retain()
	if err != nil {
		t.Fatal(err)
	}
	err = ctx.Bind()
	n, _, failed := ctx.Memory()
	if err := errors.Join(err, failed, ctx.Close()); err != nil {
		t.Fatal(err)
	}
	return int64(n)
}

// TestPlanIsWhatIsTaken compares what Plan says with what New takes, of models with one kind of
// attention, with two, and with experts, in all formats.
func TestPlanIsWhatIsTaken(t *testing.T) {
	driver := emu.Open(t, emu.Options{})
	quantised := map[string]Quantize{"llama": "", "gemma3": QuantizeQ8, "gpt-oss": QuantizeQ4}
	for _, m := range familytest.Models(t) {
		q, ok := quantised[m.Name]
		if !ok {
			continue
		}
		c, set := loadModel(t, m.Folder(t))
		cfg := Config{Model: c, MaxMemory: 32 << 20, MaxContext: 128, MaxTokens: 32, MaxSlots: 3, HostBlocks: 5, Quantize: q, MaxAdapters: 2, MaxAdapterRank: 33}
		plan, err := Plan(cfg)
		if err != nil {
			t.Fatal(err)
		}
		cfg.Device, cfg.Weights = device(t, driver), set
		before, unused := driver.Counts().Allocations, free(t, cfg.Device)
		e, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if taken := unused - free(t, cfg.Device); plan != e.Memory() || taken != plan.Device() && !emu.Hardware() { // whose driver takes more
			t.Errorf("%s: %d bytes are taken, %+v; planned are %+v", m.Name, taken, e.Memory(), plan)
		}
		if plan.Device() > cfg.MaxMemory {
			t.Errorf("%s: %d bytes are planned, %d may be used", m.Name, plan.Device(), cfg.MaxMemory)
		}
		if n := driver.Counts().Allocations - before; n != 8 && !emu.Hardware() { // weights, adapters, buffers, pool, staging; host pool, inputs, copies of weights
			t.Errorf("%s: %d pieces of memory are taken, 8 are known", m.Name, n)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		if n := driver.Counts().Allocations - before; n != 0 {
			t.Errorf("%s: %d pieces of memory are left", m.Name, n)
		}
	}
	if n := driver.Counts().Handles; n != 0 {
		t.Errorf("%d streams, events and modules are left", n)
	}
}

// tinyPlan is a configuration that Plan takes.
func tinyPlan(t *testing.T) Config {
	m, _ := loadModel(t, "tiny")
	return Config{Model: m, MaxMemory: 1 << 30, MaxContext: 256, MaxTokens: 64, MaxSlots: 4}
}

func TestPlanBounds(t *testing.T) {
	for _, c := range []struct {
		change func(*Config)
		blocks int
		bound  executor.Bound
	}{
		{func(*Config) {}, 4 * 256 / 16, executor.ByUse},
		{func(c *Config) { c.NumBlocks = 7 }, 7, executor.ByNumBlocks},
	} {
		cfg := tinyPlan(t)
		c.change(&cfg)
		m, err := Plan(cfg)
		if err != nil || m.Blocks != c.blocks || m.Bound != c.bound {
			t.Errorf("%d blocks by %s (%v), want %d by %s", m.Blocks, m.Bound, err, c.blocks, c.bound)
		}
		cfg.MaxMemory = m.Device() - 1
		if less, err := Plan(cfg); err != nil || less.Blocks != m.Blocks-1 || less.Bound != executor.ByMaxMemory {
			t.Errorf("with a byte less than %d blocks take there are %d by %s (%v)", m.Blocks, less.Blocks, less.Bound, err)
		}
	}
}

// TestPlanOfGraphs counts the kernels of layers and of each pass of the head, of which long steps have several.
func TestPlanOfGraphs(t *testing.T) {
	for _, c := range []struct{ slots, tokens, passes int }{
		{4, 64, 1}, {256, 2048, 1}, {257, 2048, 2}, {1000, 200, 1}, {1000, 600, 4}, {1000, 512, 2},
	} {
		cfg := tinyPlan(t)
		cfg.MaxSlots, cfg.MaxTokens, cfg.Graphs = c.slots, c.tokens, all
		m, err := Plan(cfg)
		if want := int64(m.Shapes * 2 * 4096 * (12*cfg.Model.Layers + 3 + 5*c.passes)); err != nil || m.Graphs != want || m.Shapes < 2 {
			t.Errorf("of %d slots and %d tokens %d shapes are planned, of %d bytes, want %d (%v)", c.slots, c.tokens, m.Shapes, m.Graphs, want, err)
		}
	}
}

// part is what the second of two ranks computes of a model.
func part(t *testing.T, m *model.Config) *model.Config {
	t.Helper()
	p, err := m.Shard(1, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPlanRefuses(t *testing.T) {
	for _, c := range []struct {
		change func(*Config)
		class  error
		says   string
	}{
		{func(c *Config) { c.Model = nil }, ErrConfig, "Model is nil"},
		{func(c *Config) { c.MaxMemory = 0 }, ErrConfig, "MaxMemory"},
		{func(c *Config) { c.MaxMemory = -1 }, ErrConfig, "negative"},
		{func(c *Config) { c.MaxMemory = 1 }, executor.ErrMemory, "of 1 that may be used"},
		{func(c *Config) { c.PageSize = 5000 }, ErrConfig, "PageSize is 5000"},
		{func(c *Config) { c.MaxContext = 1 << 20 }, ErrConfig, "MaxContext"},
		{func(c *Config) { c.HostBlocks = -1 }, ErrConfig, "HostBlocks"},
		{func(c *Config) { c.WeightSets = 3 }, ErrConfig, "WeightSets"},
		{func(c *Config) { c.MaxAdapters = -1 }, ErrConfig, "MaxAdapters"},
		{func(c *Config) { c.MaxAdapterRank = 1025 }, ErrConfig, "MaxAdapterRank"},
		{func(c *Config) { c.Quantize = "column" }, ErrConfig, `Quantize is "column"`},
		{func(c *Config) { m := *c.Model; m.HeadDim = 300; c.Model = &m }, ErrModel, "300"},
		{func(c *Config) { m := *c.Model; m.MoE = &model.MoE{Experts: 1025, PerToken: 1}; c.Model = &m }, ErrModel, "1025 experts"},
		{func(c *Config) { m := *c.Model; m.Family = "none"; c.Model = &m }, ErrModel, "none"},
		{func(c *Config) { m := *c.Model; m.Attn = []model.Attention{model.Sliding}; c.Model = &m }, ErrModel, "window"},
		{func(c *Config) { c.Model = part(t, c.Model) }, ErrModel, "rank 1 of 2"},
	} {
		cfg := tinyPlan(t)
		c.change(&cfg)
		if _, err := Plan(cfg); !errors.Is(err, c.class) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("Plan says %v, want %v: %q", err, c.class, c.says)
		}
	}
	if _, err := New(tinyPlan(t)); !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), "Device") {
		t.Errorf("New without a device says %v", err)
	}
}
