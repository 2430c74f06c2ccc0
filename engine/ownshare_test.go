package engine

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
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
// sequences: tokens to their records, books, plan and all messages between actors. Results
// are read in the end, or token by token from streams, by a goroutine each.
func BenchmarkOwnShare256(b *testing.B) {
	for name, read := range map[string]func(context.Context, *Engine, []Request) error{"batch": readBatch, "streams": readStreams} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				own := ownShare(b, read)
				slices.Sort(own)
				b.ReportMetric(float64(own[len(own)/2].Microseconds()), "µs/step") // the median: others may use the machine
				b.ReportMetric(float64(own[len(own)*9/10].Microseconds()), "µs/step-p90")
			}
		})
	}
}

// ownShare runs the sequences and answers what was between full steps.
func ownShare(b *testing.B, read func(context.Context, *Engine, []Request) error) []time.Duration {
	const sequences, tokens = 256, 500
	ex := &between{full: sequences, Executor: executor.NewEcho(executor.EchoConfig{Slots: sequences, Tokens: 2 * sequences, Blocks: sequences * (tokens/16 + 2)})}
	e, err := Spawn(b.Context(), Config{Executor: ex})
	if err != nil {
		b.Fatal(err)
	}
	requests := make([]Request, sequences)
	for i := range requests {
		requests[i] = Request{PromptIDs: ids(4, i), MaxNewTokens: tokens}
	}
	if err := errors.Join(read(b.Context(), e, requests), e.Close()); err != nil {
		b.Fatal(err)
	}
	return ex.own
}

func readBatch(ctx context.Context, e *Engine, requests []Request) error {
	_, err := e.GenerateBatch(ctx, requests, BatchOptions{})
	return err
}

func readStreams(ctx context.Context, e *Engine, requests []Request) error {
	failed := make([]error, len(requests))
	var readers sync.WaitGroup
	for i, r := range requests {
		s, err := e.AddRequest(ctx, r)
		if err != nil {
			return err
		}
		readers.Go(func() {
			for failed[i] == nil {
				_, failed[i] = s.Recv(ctx)
			}
			if errors.Is(failed[i], io.EOF) {
				failed[i] = nil
			}
		})
	}
	readers.Wait()
	return errors.Join(failed...)
}
