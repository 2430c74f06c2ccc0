package cpuexec

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/executor"
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
			by     executor.Bound
		}{
			{"what is used", func(c *Config) {}, executor.ByUse},
			{"given", func(c *Config) { c.NumBlocks = 5 }, executor.ByNumBlocks},
			{"a quarter", func(c *Config) { c.MemoryLimit = 4 * all.KV / 2; c.HostBlocks = 0 }, executor.ByQuarter},
			{"what may be taken", func(c *Config) { c.MaxMemory = all.Total() - all.Host - all.KV/2 }, executor.ByMaxMemory},
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
}

// TestPlanOfTheSmallestPool: one byte less than it takes is refused, and told is what a pool
// takes at least, of one kind of attention or of two, by a quarter or by what may be taken.
func TestPlanOfTheSmallestPool(t *testing.T) {
	for what, kinds := range map[string][]model.Attention{
		"takes":                            {model.Full},
		"each kind of attention needs one": {model.Full, model.Sliding, model.Sliding, model.Sliding},
	} {
		m, set := windowed(t, 20, kinds...)
		cfg := Config{Model: m, Weights: set, Threads: 1, PageSize: 8, MaxSlots: 3, MaxTokens: 16, MaxContext: 100, NumBlocks: 1}
		least, err := Plan(cfg)
		if err != nil || least.Blocks != 1 || least.KV != poolBytes(least.LeastPool) {
			t.Fatalf("%s: %+v, %v", what, least, err)
		}
		told := fmt.Sprintf("%s %d", what, least.LeastPool)
		if len(least.Cache().Groups) > 1 {
			told = fmt.Sprintf("take %d", least.LeastPool)
		}
		for _, bound := range []func(c *Config, missing int64){
			func(c *Config, missing int64) { c.MaxMemory = least.Total() - missing },
			func(c *Config, missing int64) { c.MemoryLimit = 4 * (least.LeastPool - missing) },
		} {
			fits, lacks := cfg, cfg
			bound(&fits, 0)
			if plan, err := Plan(fits); err != nil || plan.Blocks != 1 {
				t.Errorf("%s: %+v, %v", what, plan, err)
			}
			bound(&lacks, 1)
			if _, err := Plan(lacks); !errors.Is(err, ErrMemory) || !strings.Contains(err.Error(), what) || !strings.Contains(err.Error(), told) {
				t.Errorf("%s, a byte less: %v, want it to say %s", what, err, told)
			}
		}
	}
}
