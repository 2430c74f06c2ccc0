package gpuexec

import (
	"github.com/cbactor/cbactor/cuda/kernels"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/sampling"
)

// slot is the state of a sequence on the host.
type slot struct {
	ids      []int32 // known; the device may have drawn one more
	prompt   int32   // of ids, how many are prompt
	sampling sampling.Params
	seed     uint64
	child    int32
	parent   executor.Slot
	adapter  *adapter // nil: none
	err      error    // of the row that failed: later ones have no token to go on from
	onDevice bool     // the device draws its tokens

	token int // number of its last one in the step that was laid last
}

// newSlots makes room for c.MaxSlots sequences of c.MaxContext tokens, untouched until used.
func newSlots(c *Config) []slot {
	slots, ids := make([]slot, c.MaxSlots), make([]int32, c.MaxSlots*c.MaxContext)
	for i := range slots {
		slots[i].ids = ids[i*c.MaxContext:][:0:c.MaxContext]
	}
	return slots
}

// admit makes the slot a's sequence, with the adapter that a names; its tokens may be drawn on the device.
func (s *slot) admit(a *executor.Admit, with *adapter, onDevice bool) {
	*s = slot{
		ids: append(s.ids[:0], a.IDs...), prompt: a.PromptLen, sampling: a.Sampling, seed: a.Seed, child: a.Child, parent: a.Parent,
		adapter: with, onDevice: onDevice && kernels.Draws(&a.Sampling),
	}
}

// key is that of the draw of the id at a position.
func (s *slot) key(pos int) sampling.Key {
	return sampling.Key{Seed: s.seed, Child: s.child, Position: int32(pos)}
}

// history is what the sequence has.
func (s *slot) history() sampling.History { return sampling.History{IDs: s.ids, Prompt: s.prompt} }

// place is the number of the sequence's adapter, -1 for none.
func (s *slot) place() int {
	if s.adapter == nil {
		return -1
	}
	return int(s.adapter.number)
}
