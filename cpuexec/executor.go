package cpuexec

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cbactor/cbactor/cpuexec/kernels"
	"github.com/cbactor/cbactor/cpuexec/pool"
	"github.com/cbactor/cbactor/executor"
)

// MaxOutstanding is how many steps may be handed over.
const MaxOutstanding = 2

// Executor computes a model on CPUs. It is an executor.Loader.
type Executor struct {
	config  Config
	memory  Memory
	formats formats // of packed weights
	tiles   tileTable
	info    executor.Info
	check   *executor.Checker

	kernels  *kernels.Set
	pool     *pool.Pool
	areas    []*area // everything mapped, but for weights
	kv       *area   // of them, the pool
	host     *area   // likewise, the host pool
	adapters *adapters
	step     *step
	beside   atomic.Pointer[packing] // a set that is packed between steps; nil: none
	took     time.Duration           // by the last step
	failed   error                   // a step that failed leaves sequences without their tokens: none runs after it

	mu       sync.Mutex
	changed  sync.Cond // queue or closed
	queue    []*executor.Batch
	running  bool
	packing  int // adapters and sets that are being packed
	closed   bool
	released bool

	loading  sync.Mutex                     // held by who loads, drops, sleeps or wakes, beside steps
	unpacked bool                           // weights sleep
	places   executor.Places[*area, packed] // mu is held, too, by who changes them
}

// Info implements executor.Executor.
func (e *Executor) Info() executor.Info { return e.info }

// Memory is what the executor has taken.
func (e *Executor) Memory() Memory { return e.memory }

// Start implements executor.Executor. A refused Batch is an error of class
// executor.ErrContract or executor.ErrUnsupported.
func (e *Executor) Start(b *executor.Batch) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return executor.ErrClosed
	}
	if err := e.check.Check(b); err != nil {
		return err
	}
	e.queue = append(e.queue, b)
	e.changed.Signal()
	return nil
}

// Finish implements executor.Executor. The step runs here. A panic in it fails the
// step and all later ones (Result.Err is of class pool.ErrPanic); a fault in
// assembly ends the process.
func (e *Executor) Finish(r *executor.Result) error {
	r.Reset()
	b := e.next()
	if b == nil {
		return executor.ErrClosed
	}
	began := time.Now()
	r.Step = b.Step
	if e.failed == nil {
		e.step.clock.begin(began)
		if err := e.run(b, r); err != nil {
			e.failed = fmt.Errorf("step %d: %w", b.Step, err)
		}
	}
	if e.failed != nil {
		r.Rows, r.Tokens, r.Err = r.Rows[:0], 0, e.failed
	}
	e.took = time.Since(began)
	r.Compute = e.took.Nanoseconds()
	e.check.Done(b.Step)
	return e.ended()
}

// run does the step on this thread and the pool's.
func (e *Executor) run(b *executor.Batch, r *executor.Result) (err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("%w: %v", pool.ErrPanic, cause)
		}
	}()
	if p := e.beside.Load(); p != nil {
		if err := e.step.pack(p, e.took/besideShare); err != nil {
			return err
		}
		e.step.clock.settle(OpPack)
	}
	e.step.weights = e.weightsOf(b.Epoch)
	return e.step.run(b, r)
}

// next waits for a step handed over; nil: closed, and none is left.
func (e *Executor) next() *executor.Batch {
	e.mu.Lock()
	defer e.mu.Unlock()
	for len(e.queue) == 0 && !e.closed {
		e.changed.Wait()
	}
	if len(e.queue) == 0 {
		return nil
	}
	b := e.queue[0]
	e.queue = e.queue[:copy(e.queue, e.queue[1:])]
	e.running = true
	return b
}

// ended notes that no step runs.
func (e *Executor) ended() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.running = false
	return e.release()
}

// Close implements executor.Executor. It does not wait: if steps are left, the
// Finish of the last one frees threads and memory.
func (e *Executor) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	e.changed.Broadcast()
	return e.release()
}

// release frees threads and memory once, when closed and idle.
func (e *Executor) release() error {
	if !e.closed || e.running || e.packing > 0 || len(e.queue) > 0 || e.released {
		return nil
	}
	e.released = true
	e.pool.Close()
	e.step, e.adapters = nil, nil // so that an executor that is kept keeps no memory
	return e.freeAreas()
}
