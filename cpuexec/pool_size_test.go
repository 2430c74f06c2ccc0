package cpuexec

import (
	"errors"
	"testing"

	"github.com/cbactor/cbactor/model"
)

// TestPlanOfTwoGroups checks each bound of a pool that is divided into sectors, that the
// number of blocks says it all, and that New takes it.
func TestPlanOfTwoGroups(t *testing.T) {
	m, set := windowed(t, 20, model.Full, model.Sliding, model.Sliding)
	for _, kinds := range [][]model.Attention{m.Attn, turns(m.Layers, model.Full, model.Sliding, model.Sliding, model.Sliding)} {
		c := *m
		c.Attn = kinds
		base := Config{Model: &c, Weights: set, Threads: 1, PageSize: 8, MaxSlots: 3, MaxTokens: 16, MaxContext: 100, HostBlocks: 2}
		all, err := Plan(base)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range []struct {
			name   string
			change func(c *Config)
			by     Bound
		}{
			{"what is used", func(c *Config) {}, ByUse},
			{"given", func(c *Config) { c.NumBlocks = 5 }, ByNumBlocks},
			{"a quarter", func(c *Config) { c.MemoryLimit = 4 * all.KV / 2; c.HostBlocks = 0 }, ByQuarter},
			{"what may be taken", func(c *Config) { c.MaxMemory = all.Total() - all.Host - all.KV/2 }, ByMaxMemory},
		} {
			cfg := base
			o.change(&cfg)
			plan, err := Plan(cfg)
			if err != nil || plan.Bound != o.by || plan.Sectors < 2 || plan.Blocks < 1 {
				t.Fatalf("%s: %+v, %v", o.name, plan, err)
			}
			if cfg.MaxMemory > 0 && plan.Total()-plan.Host > cfg.MaxMemory {
				t.Errorf("%s: %d bytes beside the host pool, %d may be taken", o.name, plan.Total()-plan.Host, cfg.MaxMemory)
			}
			cfg.NumBlocks = plan.Blocks
			again := start(t, cfg).Memory()
			if plan.Bound = again.Bound; again != plan {
				t.Errorf("%s: %+v is taken, planned is %+v", o.name, again, plan)
			}
			info := again.Cache()
			for g, group := range info.Groups {
				if group.Blocks != info.Sectors*group.PerSector || group.Window != []int{0, 20}[g] || group.Host != cfg.HostBlocks {
					t.Errorf("%s: group %d is %+v of %d sectors", o.name, g, group, info.Sectors)
				}
			}
		}
	}
	if _, err := Plan(Config{Model: m, MemoryLimit: 1 << 10}); !errors.Is(err, ErrMemory) {
		t.Errorf("less than a sector: %v", err)
	}
}
