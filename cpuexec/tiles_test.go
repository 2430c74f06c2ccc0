package cpuexec

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// cutAnyhow gives every figure that may be tuned a random value.
func cutAnyhow(e *Executor, r *rand.Rand) {
	for _, t := range e.tiles {
		t.call = 1 + r.IntN(tilePanels)
		for c := range t.block {
			t.block[c] = 8 * (1 + r.IntN(rowBlock/8))
		}
	}
	e.step.spanLen = 1 + r.IntN(e.step.spanTokens())
	e.step.alone = r.IntN(2) * 200 * int(e.memory.Weights)
}

// TestTilesKeepBits cuts work in random ways, in steps of few rows and of many: not a bit of
// the logits changes, nor a token where logits are not kept.
func TestTilesKeepBits(t *testing.T) {
	for i, c := range append([]computeCase{{name: "f32", m: odd, as: computeCases[0].as}}, computeCases...) {
		t.Run(c.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(i), 1))
			m, set := c.load(t)
			cfg := c.with(m, set)
			cfg.MaxSlots, cfg.KVType = 80, kvTypes[i%2] // odd heads do not fit int8
			all := randomSequences(&m.Config, 75, sized(40, 8), 3)
			cfg.Kernels = "generic"
			newDriver(t, cfg, 64, true).run(all...)
			for k, name := range kernelNames() {
				for j, chunk := range []int{1, 7, 40} {
					if testing.Short() && (i+k+j)%3 > 0 {
						continue // another set has it, or another case
					}
					cfg.Kernels, cfg.Threads = name, 1+r.IntN(2)
					kept, fast := newDriver(t, cfg, chunk, true), newDriver(t, cfg, chunk, false)
					cutAnyhow(kept.e, r)
					cutAnyhow(fast.e, r)
					n := []int{1, 33, 75}[r.IntN(3)]
					batch, quick := make([]*sequence, n), make([]*sequence, n)
					for j := range batch {
						batch[j], quick[j] = all[j].again(), all[j].again()
					}
					kept.run(batch...)
					fast.run(quick...)
					for j, s := range batch {
						what := fmt.Sprintf("%s, %d threads, chunks of %d, sequence %d of %d", name, cfg.Threads, chunk, j, n)
						sameLogits(t, what, s.logits, all[j].logits)
						if !slices.Equal(quick[j].out(), all[j].out()) {
							t.Errorf("%s: tokens %v, want %v", what, quick[j].out(), all[j].out())
						}
					}
				}
			}
		})
	}
}

// TestClasses has every number of rows in one.
func TestClasses(t *testing.T) {
	for rows, want := range map[int]class{1: 0, 32: 0, 33: 1, 64: 1, 65: varlen, 192: 2, 193: 3, 512: 3, 1 << 16: classes - 1} {
		if got := classOf(rows); got != want {
			t.Errorf("%d rows are of class %d, want %d", rows, got, want)
		}
	}
}
