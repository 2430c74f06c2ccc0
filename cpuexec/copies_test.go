package cpuexec

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/model"
)

// randomCopies are n copies of every kind between the blocks of groups, in turn of one and
// of another. There are few blocks, so that most depend on those before.
func randomCopies(n int, groups []executor.Group) []executor.Copy {
	r := rand.New(rand.NewPCG(5, 6))
	copies := make([]executor.Copy, 0, n)
	for len(copies) < n {
		g := r.IntN(len(groups))
		device, other, pool := int32(r.IntN(groups[g].Blocks)), int32(r.IntN(groups[g].Blocks)), int32(r.IntN(groups[g].Host))
		c := executor.Copy{Group: int32(g)}
		switch {
		case len(copies)%3 == 0:
			c.Kind, c.From, c.To = executor.CopyOut, device, pool
		case len(copies)%3 == 1:
			c.Kind, c.From, c.To = executor.CopyIn, pool, device
		case device != other:
			c.Kind, c.From, c.To = executor.CopyFork, device, other
		default:
			continue
		}
		copies = append(copies, c)
	}
	return copies
}

// TestCopiesKeepTheirOrder runs copies of one Batch and does them again one after
// another on the side: every byte of both pools is the same, on any number of
// threads, also where blocks of two groups lie in the same memory. Blocks of 5 tokens do not
// divide evenly among 3 threads.
func TestCopiesKeepTheirOrder(t *testing.T) {
	for _, kinds := range [][]model.Attention{{model.Full}, {model.Full, model.Sliding, model.Sliding, model.Sliding}} {
		m, set := windowed(t, 8, kinds...)
		for _, threads := range []int{1, 2, 3} {
			e := start(t, Config{Model: m, Weights: set, Threads: threads, PageSize: 5, MaxSlots: 1, MaxTokens: 8, MaxContext: 20, HostBlocks: 3})
			e.step.alone = 0
			copies := randomCopies(sized(400, 100), e.info.Groups)
			c, r := &e.step.cache, rand.New(rand.NewPCG(7, 8))
			for i := range c.mem {
				c.mem[i] = byte(r.Uint32())
			}
			for i := range c.host {
				c.host[i] = byte(r.Uint32())
			}
			mem, pool := slices.Clone(c.mem), slices.Clone(c.host)
			twin := cache{mem: mem, host: pool, layout: c.layout}
			for i := range copies {
				from, to := twin.ends(&copies[i])
				copy(to, from)
			}
			runBatch(t, e, &executor.Batch{Step: 1, Epoch: 1, Copies: copies})
			if !slices.Equal(c.mem, mem) || !slices.Equal(c.host, pool) {
				t.Errorf("%d groups, %d threads: the pools are not what the copies make of them", len(e.info.Groups), threads)
			}
		}
	}
}

func runBatch(t testing.TB, e *Executor, b *executor.Batch) {
	t.Helper()
	var r executor.Result
	if err := e.Start(b); err != nil {
		t.Fatal(err)
	}
	if err := e.Finish(&r); err != nil || r.Err != nil {
		t.Fatal(err, r.Err)
	}
}

func TestCopiesAllocateNothing(t *testing.T) {
	m, set := loadModel(t, family("llama"))
	e := start(t, Config{Model: m, Weights: set, Threads: 2, MaxSlots: 1, MaxContext: 128, HostBlocks: 3})
	e.step.alone = 0
	b := executor.Batch{Epoch: 1, Copies: randomCopies(10, e.info.Groups)}
	steps := func(n int) {
		for range n {
			b.Step++
			runBatch(t, e, &b)
		}
	}
	if got := allocations(t, 100, steps); got > 0 {
		t.Errorf("%d allocations in 100 steps", got)
	}
}

// BenchmarkCopies copies out blocks of the embedded model, in batches of so many.
func BenchmarkCopies(b *testing.B) {
	m, set := loadModel(b, "tiny")
	for _, threads := range []int{1, 2} {
		for _, n := range []int{1, 8, 256} {
			b.Run(fmt.Sprintf("%d threads/%d", threads, n), func(b *testing.B) {
				e := start(b, Config{Model: m, Weights: set, Threads: threads, HostBlocks: 256})
				e.step.alone = 0
				batch := executor.Batch{Epoch: 1}
				for i := range n {
					batch.Copies = append(batch.Copies, executor.Copy{Kind: executor.CopyOut, From: int32(i), To: int32(n - 1 - i)})
				}
				for range 3 { // the first touches the memory
					batch.Step++
					runBatch(b, e, &batch)
				}
				began := time.Now()
				for b.Loop() {
					batch.Step++
					runBatch(b, e, &batch)
				}
				bytes := float64(n*b.N) * float64(e.Memory().BlockBytes)
				b.ReportMetric(bytes/float64(time.Since(began).Nanoseconds()), "GB/s")
			})
		}
	}
}
