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
	yieldRounds = 1 << 12 // a multiple of the 64 rounds between two sleeps
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

// Wait is how a thread waits for others that compute as long as it does: it keeps its processor
// at first. The zero value begins one.
type Wait struct {
	round int
	since time.Time // of round yieldRounds; zero: not reached, and no clock read
}

// Spin waits a moment.
func (w *Wait) Spin() {
	i := w.round
	w.round++
	switch {
	case i >= leaveRounds:
		runtime.Gosched()
	case i >= yieldRounds && i%64 == 0:
		if i == yieldRounds {
			w.since = time.Now()
		}
		yield()
	default:
		kernels.Pause()
	}
}

// note notes a wait that is over, if it went beyond spinning.
func (p *Pool) note(w *Wait) {
	if w.since.IsZero() {
		return
	}
	took := int64(time.Since(w.since))
	for longest := p.longest.Load(); took > longest && !p.longest.CompareAndSwap(longest, took); {
		longest = p.longest.Load()
	}
}
