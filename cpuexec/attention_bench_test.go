package cpuexec

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/cbactor/cbactor/executor"
)

// smollm2 is the file of SmolLM2-135M in the user's cache; without it the benchmark is
// skipped.
func smollm2(b *testing.B) string {
	cache, err := os.UserCacheDir()
	if err != nil {
		b.Skip(err)
	}
	path := filepath.Join(cache, "cbactor", "SmolLM2-135M-Instruct.Q4_1.gguf")
	if _, err := os.Stat(path); err != nil {
		b.Skip(err)
	}
	return path
}

// BenchmarkAttention computes attention alone, of all layers of SmolLM2-135M, over caches
// that have been filled with something: many sequences that decode, a single long one, a
// whole prompt. It reports how fast that reads K and V, counted once for each row.
func BenchmarkAttention(b *testing.B) {
	m, set := loadModel(b, smollm2(b))
	for _, kv := range kvTypes {
		for _, c := range []struct{ rows, context, count int }{{32, 512, 1}, {1, 8160, 1}, {1, 512, 512}} {
			b.Run(fmt.Sprintf("%s/%d rows of %d at %d", kv, c.rows, c.count, c.context), func(b *testing.B) {
				e := start(b, Config{Model: m, Weights: set, Threads: 2, KVType: kv, NumBlocks: max(256, c.rows*c.context/32)})
				for i := range e.step.cache.mem {
					e.step.cache.mem[i] = 0x3c // of any type a small number
				}
				runBatch(b, e, contexts(c.rows, c.context, c.count))
				s := e.step
				attend := func(id int) {
					for l := range m.Layers {
						s.attend(id, l)
						s.pool.Sync()
					}
				}
				b.ResetTimer()
				for range b.N {
					for l := range s.nextHead {
						s.nextHead[l].Store(0)
					}
					if err := s.pool.Run(attend); err != nil {
						b.Fatal(err)
					}
				}
				bytes := float64(b.N*c.rows*c.context) * float64(e.Memory().BlockBytes) / 32
				b.ReportMetric(bytes/float64(b.Elapsed().Nanoseconds()), "GB/s")
			})
		}
	}
}

// contexts is a step of so many sequences, whose last count positions are computed.
func contexts(rows, context, count int) *executor.Batch {
	b := &executor.Batch{Step: 1, Epoch: 1}
	n := pages(context, 32)
	for i := range rows {
		table := make([]int32, n)
		for j := range table {
			table[j] = int32(j*rows + i)
		}
		slot := executor.Slot(i)
		b.Admit = append(b.Admit, executor.Admit{Slot: slot, IDs: make([]int32, context), PromptLen: int32(context), Parent: executor.NoSlot})
		b.Tables = append(b.Tables, executor.Table{Slot: slot, Blocks: table})
		b.Rows = append(b.Rows, executor.Row{Slot: slot, Start: int32(context - count), Count: int32(count), Sample: true, Mask: -1})
	}
	return b
}
