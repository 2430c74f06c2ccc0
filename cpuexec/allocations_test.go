package cpuexec

import (
	"math"
	"runtime"
	"strings"
	"testing"
)

// allocations is how many objects the executor's code allocates in n steps behind some
// others: the least of three counts, for the runtime takes some for threads that it parks and
// starts, which depends on who else runs. It counts by itself: testing.AllocsPerRun leaves
// one P, for which spinning threads then queue.
func allocations(t *testing.T, n int, steps func(n int)) int64 {
	t.Helper()
	defer func(rate int) { runtime.MemProfileRate = rate }(runtime.MemProfileRate)
	runtime.MemProfileRate = 1
	steps(20)
	least := int64(math.MaxInt64)
	for i := 0; i < 3 && least > 0; i++ {
		before := allocated(t)
		steps(n)
		least = min(least, allocated(t)-before)
	}
	return least
}

// allocated is how many objects the executor's code has allocated while all were counted.
func allocated(t *testing.T) (objects int64) {
	t.Helper()
	runtime.GC() // two complete cycles tell all
	runtime.GC()
	records := make([]runtime.MemProfileRecord, 1<<14)
	n, ok := runtime.MemProfile(records, true)
	if !ok {
		t.Fatalf("the profile has %d records", n)
	}
	for _, r := range records[:n] {
		frames := runtime.CallersFrames(r.Stack())
		for more := true; more; {
			var f runtime.Frame
			if f, more = frames.Next(); strings.Contains(f.Function, "cpuexec.(*step)") || strings.Contains(f.Function, "cpuexec.(*Executor)") {
				objects += r.AllocObjects
				break
			}
		}
	}
	return objects
}
