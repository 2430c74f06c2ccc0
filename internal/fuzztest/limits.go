package fuzztest

import (
	"fmt"
	"runtime/metrics"
	"time"
)

// limits are what one input may take.
type limits struct {
	memory uint64        // bytes
	slow   time.Duration // of processors; 0: any
	hung   int           // seconds after which it has no end
}

// limitsOf judges time only where inputs are looked for: what is kept was judged then, and is
// run by tests on machines that are slow, or busy.
func limitsOf(memory uint64, fuzzing bool) limits {
	if fuzzing {
		return limits{memory: memory, slow: 2 * time.Second, hung: 20}
	}
	return limits{memory: memory, hung: 120}
}

// tries are for what others of the process do meanwhile, such as the collector.
const tries = 3

// judge runs a target on an input, and says what it took too much. What has no end is ended
// with the process, which fuzzing takes for the fault of the input.
func (l limits) judge(run func()) error {
	end := make(chan struct{})
	defer close(end)
	go l.watch(end)
	took, allocated := measured(run)
	tooSlow := func() bool { return l.slow > 0 && took > l.slow }
	for try := 1; tooSlow() && try < tries; try++ {
		again, _ := measured(run)
		took = min(took, again)
	}
	if tooSlow() {
		return fmt.Errorf("took %v, want at most %v", took, l.slow)
	}
	if allocated > l.memory {
		return fmt.Errorf("took %d KiB of memory, want at most %d", allocated>>10, l.memory>>10)
	}
	return nil
}

// watch ends the process. It counts seconds one by one: a process that was stopped for long
// has no more to answer for than one.
func (l limits) watch(end <-chan struct{}) {
	for range l.hung {
		select {
		case <-end:
			return
		case <-time.After(time.Second):
		}
	}
	panic(fmt.Sprintf("fuzztest: no end after %d s", l.hung))
}

// measured runs it once. The count of bytes lags behind by what is left of the
// allocator's spans, some 100 KB at most.
func measured(run func()) (took time.Duration, allocated uint64) {
	before, began := allocations(), processorTime()
	run()
	return processorTime() - began, allocations() - before
}

func allocations() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
