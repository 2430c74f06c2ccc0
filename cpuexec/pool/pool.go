package pool

import (
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"
)

// ErrPanic is the class of Run's errors: a thread panicked.
var ErrPanic = errors.New("pool: a thread panicked")

// errLeft is what the threads at a barrier panic with when one will not come.
var errLeft = errors.New("pool: barrier left")

// padded keeps a counter alone on its cache lines.
type padded struct {
	_ [128]byte
	atomic.Uint32
	_ [124]byte
}

// Pool is a set of threads.
type Pool struct {
	n    int
	cpus []int // where thread i is pinned; empty: nowhere

	arrived padded // threads at the barrier
	passed  padded // barriers completed
	epoch   padded // Runs begun
	done    padded // workers that have ended this Run

	fn      func(id int)
	active  uint32 // threads of this Run
	busy    atomic.Bool
	closing atomic.Bool
	broken  atomic.Bool
	cause   atomic.Pointer[error]
	longest atomic.Int64 // wait of this Run, in nanoseconds
	pinned  int          // thread that Run was pinned on, 0: none yet
	workers []*worker
}

type worker struct {
	_      [128]byte
	parked atomic.Bool
	wake   chan struct{}
	_      [112]byte
}

// New starts a pool of n threads, n-1 of which are its own. pin binds thread i to
// the CPU number first+i of those that the process may use, where the system can: two threads of a
// pool on one CPU wait for each other at every barrier. The goroutine that calls
// Run must then be locked to its thread, which stays bound.
func New(n int, pin bool, first int) *Pool {
	p := &Pool{n: n}
	if pin {
		if c := allowedCPUs(); len(c) >= first+n {
			p.cpus = c[first:][:n]
		}
	}
	for id := 1; id < n; id++ {
		w := &worker{wake: make(chan struct{}, 1)}
		p.workers = append(p.workers, w)
		go p.work(id, w)
	}
	return p
}

// SetBusy says whether another Run will come soon.
func (p *Pool) SetBusy(busy bool) { p.busy.Store(busy) }

// Run calls fn(id) on every thread, id 0 on the caller, and waits for all. If one
// panics the others leave at their next barrier, and Run's error says why.
func (p *Pool) Run(fn func(id int)) error {
	if len(p.cpus) > 0 {
		p.pinned = pinCaller(p.cpus[0], p.pinned)
	}
	p.active = uint32(p.n)
	p.longest.Store(0)
	p.begin(fn)
	p.call(0)
	p.join()
	return p.outcome()
}

// RunAlone calls fn(0) on the caller only, where work is too little to share.
func (p *Pool) RunAlone(fn func(id int)) error {
	p.active, p.fn = 1, fn
	p.longest.Store(0)
	p.call(0)
	return p.outcome()
}

// LongestWait is the longest that a thread of the last Run waited for the others, at a
// barrier or at the end, without the first 80 microseconds or so: a wait that short is
// not timed. A long one shows that a thread came late, such as one that had to wait for its CPU.
func (p *Pool) LongestWait() time.Duration { return time.Duration(p.longest.Load()) }

// outcome is the error of a Run, after which the next one may begin.
func (p *Pool) outcome() error {
	if !p.broken.Load() {
		return nil
	}
	p.arrived.Store(0)
	p.broken.Store(false)
	return *p.cause.Swap(nil)
}

// begin sets the workers off.
func (p *Pool) begin(fn func(id int)) {
	p.fn = fn
	p.done.Store(0)
	p.epoch.Add(1)
	for _, w := range p.workers {
		if w.parked.CompareAndSwap(true, false) {
			w.wake <- struct{}{}
		}
	}
}

// join waits until every worker has ended.
func (p *Pool) join() {
	var w Wait
	for p.done.Load() != uint32(p.n-1) {
		w.Spin()
	}
	p.note(&w)
}

// call runs the function and notes a panic.
func (p *Pool) call(id int) {
	defer func() {
		cause := recover()
		if cause == nil {
			return
		}
		err := fmt.Errorf("%w: %v", ErrPanic, cause)
		if is, ok := cause.(error); ok {
			err = fmt.Errorf("%w: %w", ErrPanic, is)
		}
		if cause != errLeft {
			p.cause.CompareAndSwap(nil, &err)
		}
		p.broken.Store(true)
	}()
	p.fn(id)
}

// Sync returns when all threads of the Run have called it.
func (p *Pool) Sync() {
	round := p.passed.Load()
	if p.arrived.Add(1) == p.active {
		p.arrived.Store(0)
		p.passed.Store(round + 1)
		return
	}
	var w Wait
	for p.passed.Load() == round {
		if p.broken.Load() {
			panic(errLeft)
		}
		w.Spin()
	}
	p.note(&w)
}

// Close ends the workers and waits for them.
func (p *Pool) Close() {
	if p.closing.Swap(true) {
		return
	}
	p.begin(nil)
	p.join()
}

// work is a worker's life.
func (p *Pool) work(id int, w *worker) {
	// The thread is never unlocked, so it ends with the goroutine, pinned or not.
	runtime.LockOSThread()
	if len(p.cpus) > 0 {
		pinCaller(p.cpus[id], 0)
	}
	for seen := uint32(0); ; {
		p.await(seen, w)
		seen = p.epoch.Load()
		if p.closing.Load() {
			p.done.Add(1)
			return
		}
		p.call(id)
		p.done.Add(1)
	}
}
