package cpuexec

import (
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/sampling"
)

// slot is the state of a sequence.
type slot struct {
	ids      []int32                     // known and sampled
	tables   [executor.MaxGroups][]int32 // per group: block of each page
	prompt   int32                       // of ids, how many are prompt
	sampling sampling.Params
	seed     uint64
	child    int32
	parent   executor.Slot
	adapter  *adapter // nil: none
	err      error    // of the row that failed: later ones have no token to go on from
}

// newSlots cuts the slots' memory out of a, with tables for so many groups.
func newSlots(a *area, c *Config, groups int) []slot {
	slots := make([]slot, c.MaxSlots)
	for i := range slots {
		slots[i].ids = cut[int32](a, c.MaxContext)[:0]
		for g := range groups {
			slots[i].tables[g] = cut[int32](a, pages(c.MaxContext, c.PageSize))
		}
	}
	return slots
}

// admit makes the slot a's sequence, with the adapter that a names.
func (s *slot) admit(a *executor.Admit, with *adapter) {
	*s = slot{
		ids: append(s.ids[:0], a.IDs...), tables: s.tables,
		prompt: a.PromptLen, sampling: a.Sampling, seed: a.Seed, child: a.Child, parent: a.Parent, adapter: with,
	}
}
