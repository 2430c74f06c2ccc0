package ranks

import (
	"errors"
	"testing"
	"time"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/cpuexec"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/weights"
)

// planOf is a plan for ranks of the embedded model, of so much memory.
func planOf(t *testing.T, ranks int, change func(*cpuexec.Config)) CPU {
	t.Helper()
	c, err := checkpoint.Open(checkpoint.Embedded)
	if err != nil {
		t.Fatal(err)
	}
	set, err := weights.Load(c.Config, c, 1, "test")
	if err != nil {
		t.Fatal(err)
	}
	cfg := cpuexec.Config{Model: c.Config, Weights: set, Stored: c.Tensors(), Threads: 2, MaxTokens: 64, MaxSlots: 8, MaxAdapters: 1, MaxAdapterRank: 4, HostBlocks: 3}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	change(&cfg)
	return CPU{Config: cfg, Ranks: ranks, Timeout: time.Minute}
}

// What is planned is what ranks take, and no more than they may.
func TestPlanIsWhatIsTaken(t *testing.T) {
	const most = 14 << 20
	for _, ranks := range []int{2, 4} {
		c := planOf(t, ranks, func(cfg *cpuexec.Config) { cfg.MaxMemory = most })
		plan, err := c.Plan()
		if err != nil {
			t.Fatal(err)
		}
		if all := plan.Total() - plan.Host; plan.Bound != executor.ByMaxMemory || all > most || all < most-plan.BlockBytes-(64<<10) {
			t.Errorf("%d ranks: %d bytes of %d, in blocks of %d bound by %s", ranks, all, int64(most), plan.BlockBytes, plan.Bound)
		}
		e, err := c.New()
		if err != nil {
			t.Fatal(err)
		}
		taken := int64(0)
		for _, p := range e.parts {
			m := p.(*cpuexec.Executor).Memory()
			taken += m.Total()
		}
		floats, err := c.Config.ExchangeFloats()
		if err != nil || plan.Total() > taken+exchangeBytes(ranks, floats) || plan.Total() <= taken {
			t.Errorf("%d ranks: %d bytes planned, %d taken beside what is exchanged (%v)", ranks, plan.Total(), taken, err)
		}
		closes(t, e)
	}
}

// Where nothing is left for a block, or for the host pool, the plan says so, with what it has.
func TestLittleMemory(t *testing.T) {
	plan, err := planOf(t, 2, func(cfg *cpuexec.Config) { cfg.MaxMemory = 1 }).Plan()
	if !errors.Is(err, cpuexec.ErrMemory) || plan.Weights == 0 || plan.LeastPool == 0 {
		t.Errorf("%+v: %v", plan, err)
	}
	_, err = planOf(t, 2, func(cfg *cpuexec.Config) { cfg.MemoryLimit, cfg.HostBlocks = 40<<20, 1000 }).Plan()
	if !errors.Is(err, cpuexec.ErrMemory) {
		t.Errorf("%v", err)
	}
}
