package sched

import (
	"testing"

	"github.com/cbactor/cbactor/blockmgr"
)

// With prefill_first a started prompt that lacks a block steps behind the decoding
// sequences, who would otherwise get no token and never end. (Here blocks lie so that
// the full group finds no sector.)
func TestAPromptWithoutBlocksLetsDecodesGo(t *testing.T) {
	s := resumedSim(t, simConfig{page: 9, slots: 5, tokens: 5, depth: 1, policy: PrefillFirst, sharing: true, windows: []int{0, 1}, sizes: []int{2, 3}, sectors: 10})
	s.submit(1, prompt(1, 0), 1)
	s.submit(2, prompt(1, 0), 1)
	s.send(Submit{N: 3, Key: 3, IDs: prompt(1, 0), MaxNew: 1})
	s.submit(6, prompt(55, 0), 3)
	s.submit(7, prompt(1, 0), 20)
	s.submit(8, prompt(58, 1), 1)
	s.drain()
	s.check()
}

// A window of 16 lets a sequence of 400 tokens run in a cache of 4 blocks of 16, and
// beside a full group it holds no more than that.
func TestAWindowNeedsFewBlocks(t *testing.T) {
	for _, windows := range [][]int{{16}, {0, 16}, {16, 0}} {
		for depth := 1; depth <= 2; depth++ {
			c := simConfig{page: 16, slots: 2, tokens: 16, depth: depth, windows: windows, sharing: true}
			for _, w := range windows {
				n := blockmgr.TableBound(w, c.tokens, c.page)
				if w == 0 {
					n = 25
				}
				c.sizes = append(c.sizes, n)
			}
			s := resumedSim(t, c)
			s.submit(1, prompt(300, 1), 20)
			s.drain()
			s.check()
			if s.computed() != 319 {
				t.Errorf("windows %v, depth %d: %d tokens computed, want 319", windows, depth, s.computed())
			}
		}
	}
}

// A model of both kinds of attention shares prompts as one of full attention does.
func TestMixedModelsShareTheirBeginning(t *testing.T) {
	for depth := 1; depth <= 2; depth++ {
		s := resumedSim(t, simConfig{page: 16, blocks: 512, slots: 8, tokens: 256, depth: depth, sharing: true, windows: []int{0, 40}})
		const common, own = 160, 20
		for k := range Key(8) {
			s.submit(1+k, append(prompt(common, 1), prompt(own, 2+int(k))...), 4)
		}
		s.drain()
		s.check()
		for k, o := range s.all {
			if k > 1 && o.cached != common {
				t.Errorf("depth %d: request %d has %d cached tokens, want %d", depth, k, o.cached, common)
			}
		}
	}
}

// Four sequences of one prompt hold the window together.
func TestForksShareTheWindow(t *testing.T) {
	s := resumedSim(t, simConfig{page: 16, blocks: 64, slots: 8, tokens: 64, depth: 2, sharing: true, windows: []int{0, 20}})
	s.send(Submit{N: 4, Key: 1, IDs: prompt(60, 1), MaxNew: 6})
	s.drain()
	s.check()
	if s.copies != 6 || s.computed() > 60+4*6 {
		t.Errorf("%d blocks copied, %d tokens computed, want 3 copies a group and the prompt once", s.copies, s.computed())
	}
}

// The window goes to the host pool and comes back with the full group's blocks.
func TestTheWindowGoesToTheHost(t *testing.T) {
	for run := range 4 {
		depth := 1 + run/2
		s := resumedSim(t, simConfig{page: 16, slots: 8, tokens: 128, depth: depth, host: 8, overlap: run%2 == 1, windows: []int{0, 20}, sizes: []int{8, 24}})
		s.submit(1, prompt(60, 1), 32)
		s.submit(2, prompt(60, 2), 32)
		s.drain()
		s.check()
		if s.all[2].preempted != 1 || s.computed() != 182 || s.copies <= 8 || s.copies >= 16 {
			t.Errorf("depth %d: given up %d times, %d tokens computed, %d blocks copied, want 1, 182 and 8 of the full group and fewer of the window", depth, s.all[2].preempted, s.computed(), s.copies)
		}
	}
}
