package engine

import (
	"slices"
	"testing"
	"time"

	"github.com/cbactor/cbactor/executor"
)

// between measures the time from a step's result to the next full step: what the engine
// itself adds where an executor has one step at a time.
type between struct {
	executor.Executor
	full  int // rows of a full step
	ended time.Time
	own   []time.Duration
}

func (b *between) Start(batch *executor.Batch) error {
	if len(batch.Rows) == b.full {
		b.own = append(b.own, time.Since(b.ended))
	}
	return b.Executor.Start(batch)
}

func (b *between) Finish(r *executor.Result) error {
	err := b.Executor.Finish(r)
	b.ended = time.Now()
	return err
}

// BenchmarkOwnShare256 reports the engine's own share of a step of 256 decoding
// sequences: tokens to their records, books, plan and all messages between actors.
func BenchmarkOwnShare256(b *testing.B) {
	const sequences, tokens = 256, 500
	for b.Loop() {
		ex := &between{full: sequences, Executor: executor.NewEcho(executor.EchoConfig{Slots: sequences, Tokens: 2 * sequences, Blocks: sequences * (tokens/16 + 2)})}
		e, err := Spawn(b.Context(), Config{Executor: ex})
		if err != nil {
			b.Fatal(err)
		}
		requests := make([]Request, sequences)
		for i := range requests {
			requests[i] = Request{PromptIDs: ids(4, i), MaxNewTokens: tokens}
		}
		if _, err := e.GenerateBatch(b.Context(), requests, BatchOptions{}); err != nil {
			b.Fatal(err)
		}
		if err := e.Close(); err != nil {
			b.Fatal(err)
		}
		slices.Sort(ex.own)
		b.ReportMetric(float64(ex.own[len(ex.own)/2].Microseconds()), "µs/step") // the median: others may use the machine
	}
}
