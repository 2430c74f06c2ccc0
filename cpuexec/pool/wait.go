package pool

import (
	"runtime"
	"time"

	"github.com/cbactor/cbactor/cpuexec/kernels"
)

const (
	// spinIdle and spinBusy are how long a worker spins for the next Run before it
	// parks. Waking it costs 0.4 ms, a tenth of a short step.
	spinIdle = 50 * time.Microsecond
	spinBusy = 3 * time.Millisecond

	// A barrier is waited for with Pause, then from yieldRounds (about 80 us) on
	// with a short sleep now and then, in case the partner waits for this CPU, and
	// from leaveRounds (some 10 ms) on with the Go scheduler's yield, in case it
	// waits for this P: two futex wakes for a locked thread, so it stays the
	// exception.
	yieldRounds = 1 << 12
	leaveRounds = 1 << 14
)

// await returns when a Run later than seen has begun.
func (p *Pool) await(seen uint32, w *worker) {
	start := time.Now()
	for i := 1; p.epoch.Load() == seen; i++ {
		kernels.Pause()
		if i%64 != 0 {
			continue
		}
		limit := spinIdle
		if p.busy.Load() {
			limit = spinBusy
		}
		if time.Since(start) < limit {
			continue
		}
		w.parked.Store(true)
		// Run raises epoch before it looks at parked, so one side sees the other.
		if p.epoch.Load() != seen && w.parked.CompareAndSwap(true, false) {
			return
		}
		<-w.wake
	}
}

// spin waits a moment, in round i of waiting.
func spin(i int) {
	switch {
	case i >= leaveRounds:
		runtime.Gosched()
	case i >= yieldRounds && i%64 == 0:
		yield()
	default:
		kernels.Pause()
	}
}
