package cpuexec

import (
	"fmt"
	"testing"
	"time"

	"github.com/cbactor/cbactor/executor"
)

// BenchmarkDecode decodes SmolLM2-135M, if it is in the user's cache, with so many
// sequences at a time, behind a prompt of 64 tokens.
func BenchmarkDecode(b *testing.B) {
	m, set := loadModel(b, smollm2(b))
	for _, kernels := range kernelNames()[:max(1, len(kernelNames())-1)] {
		for _, n := range []int{1, 16, 32} {
			b.Run(fmt.Sprintf("%s/%d", kernels, n), func(b *testing.B) {
				began := time.Now()
				d := newDriver(b, Config{Model: m, Weights: set, Kernels: kernels, Threads: 2, MaxContext: 2048}, 512, false)
				ready := time.Since(began)
				seqs := make([]*sequence, n)
				for i := range seqs {
					seqs[i] = &sequence{ids: make([]int32, 64), limit: 1 << 10}
				}
				decode(b, d, seqs)
				b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds(), "tok/s")
				b.ReportMetric(ready.Seconds(), "s-load")
			})
		}
	}
}

// decode measures b.N steps of one token a sequence.
func decode(b *testing.B, d *driver, seqs []*sequence) {
	var batch executor.Batch
	var result executor.Result
	step := func(most int) {
		d.step++
		batch.Step, batch.Epoch = d.step, 1
		for i, s := range seqs {
			if s.next == 0 {
				d.admit(&batch, s, executor.Slot(i))
			}
			d.row(&batch, s, most)
		}
		d.do(&batch, &result)
		batch.Reset()
	}
	for seqs[0].next < 64 {
		step(512 / max(len(seqs), 8))
	}
	b.ResetTimer()
	for range b.N {
		step(1)
	}
	b.StopTimer()
}
