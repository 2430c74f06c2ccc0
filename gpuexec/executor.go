package gpuexec

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/cbactor/cbactor/cuda"
	"github.com/cbactor/cbactor/cuda/kernels"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/sampling"
)

// Executor computes a model on a GPU. It is an executor.Loader, an executor.Adapters and an
// executor.Sleeper.
type Executor struct {
	config Config
	dims   dims
	layout layout
	memory Memory
	info   executor.Info
	check  *executor.Checker

	ctx     *cuda.Context
	kernels *kernels.Set
	in      *cuda.Stream // inputs of steps
	compute *cuda.Stream // kernels
	out     *cuda.Stream // what steps drew

	pool     room
	buffers  room
	host     pinned // the host pool
	swap     swap
	stepping pinned // what steps send and receive
	work     work
	vendor   vendor

	steps   [MaxOutstanding]step
	input   *input  // of the step that is laid
	order   []int32 // of its rows
	shapes  shapes  // the launcher's; while no step is unfinished, theirs who sleep
	watch   *stopwatch
	sampler *sampling.Sampler
	logits  []float32      // pinned, [hostRows][vocab]
	drawn   sampling.Drawn // of a row of which nothing is told
	edits   []int32        // the launcher's: of a sequence

	state sync.Mutex // of slots: the launcher lays steps while Finish answers earlier ones
	slots []slot

	mu       sync.Mutex
	changed  sync.Cond // what follows
	queue    []*step   // handed over
	flying   []*step   // launched
	started  int       // steps
	failed   error     // a step that failed leaves sequences without their tokens: none runs after it
	beside   int       // who loads, drops, sleeps or wakes
	closed   bool
	released chan struct{} // closed when everything is given back, with the error of that
	err      error
	life     context.Context // ends with Close
	die      func()

	loading  sync.Mutex // held by who does that
	asleep   bool       // weights are
	sender   sender
	adapters adapters
	places   places // mu is held, too, by who changes them
}

// Info implements executor.Executor.
func (e *Executor) Info() executor.Info { return e.info }

// Memory is what the executor has taken.
func (e *Executor) Memory() Memory { return e.memory }

// Start implements executor.Executor. A refused Batch is an error of class executor.ErrContract or
// executor.ErrUnsupported.
func (e *Executor) Start(b *executor.Batch) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return executor.ErrClosed
	}
	if err := e.check.Check(b); err != nil {
		return err
	}
	s := &e.steps[e.started%MaxOutstanding]
	e.started++
	s.batch = b
	e.queue = append(e.queue, s)
	e.changed.Broadcast()
	return nil
}

// Finish implements executor.Executor. Tokens that the device does not draw are drawn here.
func (e *Executor) Finish(r *executor.Result) error {
	r.Reset()
	s := e.oldest()
	if s == nil {
		return executor.ErrClosed
	}
	r.Step = s.batch.Step
	for i := range s.batch.Rows {
		r.Add(s.batch.Rows[i].Slot)
		r.Tokens += s.batch.Rows[i].Count
	}
	if s.err = cmp.Or(s.err, e.failure()); s.err == nil {
		if err := e.finish(s, r); err != nil {
			s.err = fmt.Errorf("step %d: %w", s.batch.Step, err)
		}
	}
	if s.err != nil {
		r.Rows, r.Tokens, r.Err = r.Rows[:0], 0, s.err
	}
	r.Compute = time.Since(s.began).Nanoseconds()
	e.check.Done(s.batch.Step)
	return e.ended(s)
}

// oldest waits for a launched step; nil: closed, and none is left.
func (e *Executor) oldest() *step {
	e.mu.Lock()
	defer e.mu.Unlock()
	for len(e.flying) == 0 && !(e.closed && len(e.queue) == 0) {
		e.changed.Wait()
	}
	if len(e.flying) == 0 {
		return nil
	}
	return e.flying[0]
}

// ended notes that a step is finished.
func (e *Executor) ended(s *step) error {
	e.mu.Lock()
	e.flying = e.flying[:copy(e.flying, e.flying[1:])]
	if s.err != nil && e.failed == nil {
		e.failed = s.err
	}
	s.batch, s.err = nil, nil
	last := e.idle()
	e.changed.Broadcast()
	e.mu.Unlock()
	return e.awaitRelease(last)
}

// idle says that the executor is closed and nobody uses it. mu is held.
func (e *Executor) idle() bool {
	return e.closed && len(e.queue) == 0 && len(e.flying) == 0 && e.beside == 0
}

// Close implements executor.Executor. It waits for no step: if some are left, the Finish of the last
// one frees the memory.
func (e *Executor) Close() error {
	e.mu.Lock()
	e.closed = true
	e.die()
	last := e.idle()
	e.changed.Broadcast()
	e.mu.Unlock()
	return e.awaitRelease(last)
}

// awaitRelease waits until the launcher has given everything back, where it is about to.
func (e *Executor) awaitRelease(last bool) error {
	if !last {
		return nil
	}
	<-e.released
	return e.err
}

// launcher runs on a thread of its own. It launches steps as they come, and gives everything back at
// the end.
func (e *Executor) launcher() {
	runtime.LockOSThread() // never unlocked: the thread ends with its binding
	if err := e.ctx.Bind(); err != nil {
		e.mu.Lock()
		e.failed = err
		e.mu.Unlock()
	}
	for s := e.next(); s != nil; s = e.next() {
		s.began = time.Now()
		if s.err = e.failure(); s.err == nil {
			if err := guard(func() error { return e.launch(s) }); err != nil {
				s.err = fmt.Errorf("step %d: %w", s.batch.Step, err)
			}
		}
		e.mu.Lock()
		e.queue = e.queue[:copy(e.queue, e.queue[1:])]
		e.flying = append(e.flying, s)
		e.changed.Broadcast()
		e.mu.Unlock()
	}
	e.err = errors.Join(e.release(), e.ctx.Close())
	close(e.released)
}

// guard is fn, a panic of which is an error.
func guard(fn func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("%w: %v", ErrPanic, cause)
		}
	}()
	return fn()
}

// next waits for a step that may be launched; nil: closed, and nobody uses the executor.
func (e *Executor) next() *step {
	e.mu.Lock()
	defer e.mu.Unlock()
	for {
		switch {
		case e.idle():
			return nil
		case len(e.queue) > 0 && (len(e.flying) == 0 || !e.flying[0].alone()):
			return e.queue[0]
		}
		e.changed.Wait()
	}
}

// failure is what an earlier step failed of.
func (e *Executor) failure() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.failed
}
