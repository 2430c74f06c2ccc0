package cpuexec

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cbactor/cbactor/executor"
)

// numbers are what weights are computed with and keys and values stored as.
var numbers = []Config{
	{Compute: ComputeInt8, KVType: KVInt8},
	{Compute: ComputeInt8, KVType: KVBF16},
	{Compute: ComputeInt8, Quantize: QuantizeColumn, KVType: KVInt8},
	{Compute: ComputeBF16, KVType: KVBF16},
}

// BenchmarkDecode decodes SmolLM2-135M, if it is in the user's cache: 32 steps of so many
// sequences, which begin behind so many tokens. Reported are the tokens in a second of
// the step in the middle and of the fastest.
func BenchmarkDecode(b *testing.B) {
	m, set := loadModel(b, smollm2(b))
	for _, cfg := range numbers {
		cfg.Model, cfg.Weights, cfg.Threads, cfg.MaxSlots, cfg.MaxContext = m, set, 2, 64, 1024
		for _, context := range []int{80, 512} {
			for _, rows := range []int{1, 4, 8, 16, 32, 64} {
				b.Run(fmt.Sprintf("%s/%d rows at %d", name(b, cfg), rows, context), func(b *testing.B) {
					e := start(b, cfg)
					var took []time.Duration
					b.ResetTimer()
					for i := range b.N {
						took = append(took, decode(b, e, uint64(32*i+1), rows, context, 32)...)
					}
					report(b, took, rows)
				})
			}
		}
	}
}

// BenchmarkPrefill computes prompts of 512 tokens, a step each.
func BenchmarkPrefill(b *testing.B) {
	m, set := loadModel(b, smollm2(b))
	for _, cfg := range numbers {
		cfg.Model, cfg.Weights, cfg.Threads, cfg.MaxContext = m, set, 2, 1024
		b.Run(name(b, cfg), func(b *testing.B) {
			e := start(b, cfg)
			var took []time.Duration
			b.ResetTimer()
			for i := range b.N {
				batch := contexts(1, 512, 512)
				batch.Step, batch.Retire = uint64(i+1), []executor.Slot{0}
				runBatch(b, e, batch)
				took = append(took, e.took)
			}
			report(b, took, 512)
		})
	}
}

// decode runs some steps of sequences, whose caches hold what is there, and answers what each
// of them took, the first excepted.
func decode(b *testing.B, e *Executor, first uint64, rows, context, steps int) (took []time.Duration) {
	batch := contexts(rows, context+steps, 1)
	batch.Step = first
	for i := range batch.Rows {
		batch.Admit[i].IDs = batch.Admit[i].IDs[:context]
		batch.Admit[i].PromptLen = int32(context)
		batch.Rows[i].Start = int32(context - 1)
	}
	for i := range steps {
		if i == steps-1 {
			for r := range batch.Rows {
				batch.Retire = append(batch.Retire, batch.Rows[r].Slot)
			}
		}
		runBatch(b, e, batch)
		if i > 0 {
			took = append(took, e.took)
		}
		batch.Step++
		batch.Admit, batch.Tables = nil, nil
		for r := range batch.Rows {
			batch.Rows[r].Start++
		}
	}
	return took
}

// name is that of an executor of cfg.
func name(b *testing.B, cfg Config) string {
	name, err := cfg.Name()
	if err != nil {
		b.Fatal(err)
	}
	return name
}

// report says how many tokens a second are computed.
func report(b *testing.B, took []time.Duration, tokens int) {
	slices.Sort(took)
	for name, d := range map[string]time.Duration{"tok/s": took[len(took)/2], "best-tok/s": took[0]} {
		b.ReportMetric(float64(tokens)/d.Seconds(), name)
	}
}
