package ranks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/model"
	"github.com/cbactor/cbactor/weights"
)

// ErrPanic is what a step fails of that panicked on a rank.
var ErrPanic = errors.New("ranks: panic")

// Part is the executor of a rank.
type Part interface {
	executor.Loader
	executor.Sleeper
	executor.Adapters
}

// Executor is the executors of all ranks as one.
type Executor struct {
	parts    []Part
	finished []chan struct{} // steps of each part but the first
	timeout  time.Duration
	abandon  func(err error) // lets no part wait for another one
	info     executor.Info
	late     *time.Timer // Finish's

	mu     sync.Mutex // of failed
	failed error      // none runs after it

	asleep struct{ kv, weights bool }
}

// New makes one executor of those of all ranks, which it owns. abandon is called when a rank has
// failed, so that the others do not wait for it; whoever does not end then within timeout is
// left behind.
func New(parts []Part, timeout time.Duration, abandon func(err error)) *Executor {
	e := &Executor{parts: parts, timeout: timeout, abandon: abandon, info: parts[0].Info()}
	e.late = time.NewTimer(timeout)
	e.late.Stop()
	e.info.Name = named(e.info.Name, len(parts))
	for range parts {
		e.finished = append(e.finished, make(chan struct{}, e.info.MaxOutstanding))
	}
	for rank := 1; rank < len(parts); rank++ {
		go e.follow(rank)
	}
	return e
}

// Info implements executor.Executor: that of the first rank, which is as all are.
func (e *Executor) Info() executor.Info { return e.info }

// Start implements executor.Executor.
func (e *Executor) Start(b *executor.Batch) error {
	for rank, p := range e.parts {
		if err := p.Start(b); err != nil {
			if rank > 0 { // the others have begun
				e.fail(fmt.Errorf("rank %d: %w", rank, err))
			}
			return err
		}
	}
	return nil
}

// Finish implements executor.Executor. The first rank's step runs here.
func (e *Executor) Finish(r *executor.Result) error {
	if err := e.parts[0].Finish(r); err != nil {
		return err
	}
	if r.Err != nil {
		e.fail(fmt.Errorf("rank 0: %w", r.Err))
	}
	for rank := 1; rank < len(e.parts); rank++ {
		e.await(rank)
	}
	if err := e.failure(); err != nil {
		r.Rows, r.Tokens, r.Err = r.Rows[:0], 0, err
	}
	return nil
}

// follow finishes the steps of a rank.
func (e *Executor) follow(rank int) {
	runtime.LockOSThread() // never unlocked: the thread ends with what it was bound to
	r := &executor.Result{}
	for {
		err := e.finish(rank, r)
		if errors.Is(err, executor.ErrClosed) {
			close(e.finished[rank])
			return
		}
		if err = cmp.Or(err, r.Err); err != nil {
			e.fail(fmt.Errorf("rank %d: %w", rank, err))
		}
		e.finished[rank] <- struct{}{}
	}
}

// finish finishes a step of a rank. A panic fails the step.
func (e *Executor) finish(rank int, r *executor.Result) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("%w: %v", ErrPanic, cause)
		}
	}()
	return e.parts[rank].Finish(r)
}

// await waits until a rank has finished its step, for ever as long as none has failed.
func (e *Executor) await(rank int) {
	e.late.Reset(e.timeout)
	defer e.late.Stop()
	for {
		select {
		case <-e.finished[rank]:
			return
		case <-e.late.C:
			if e.failure() != nil {
				return
			}
			e.late.Reset(e.timeout) // it answers the others, who wait for it no longer than that
		}
	}
}

// fail fails the step and all later ones, unless one has failed before.
func (e *Executor) fail(err error) {
	e.mu.Lock()
	if e.failed == nil {
		e.failed = err
	}
	e.mu.Unlock()
	e.abandon(err)
}

func (e *Executor) failure() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.failed
}

// Close implements executor.Executor.
func (e *Executor) Close() error {
	return joined(e.all(func(p Part) error { return p.Close() }))
}

// all calls fn for all ranks at a time, and answers what each says.
func (e *Executor) all(fn func(p Part) error) []error {
	errs := make([]error, len(e.parts))
	var wg sync.WaitGroup
	for rank, p := range e.parts {
		wg.Go(func() { errs[rank] = fn(p) })
	}
	wg.Wait()
	return errs
}

// joined is the error of the first rank that has one; where others have others, with what they
// say.
func joined(errs []error) error {
	var first error
	for rank, err := range errs {
		switch {
		case err == nil:
		case first == nil:
			first = fmt.Errorf("rank %d: %w", rank, err)
		case !strings.HasSuffix(first.Error(), err.Error()):
			first = fmt.Errorf("%w; rank %d: %w", first, rank, err)
		}
	}
	return first
}

// allOrNone calls do for all ranks at a time, and undo for those where it went well if it did not
// for all.
func (e *Executor) allOrNone(do, undo func(p Part) error) error {
	errs := e.all(do)
	err := joined(errs)
	if err == nil {
		return nil
	}
	for rank, p := range e.parts {
		if errs[rank] != nil {
			continue
		}
		if back := undo(p); back != nil {
			err = fmt.Errorf("%w; rank %d: %w", err, rank, back)
		}
	}
	return err
}

// Load implements executor.Loader: on all ranks, or on none.
func (e *Executor) Load(ctx context.Context, set *weights.Set) error {
	return e.allOrNone(func(p Part) error { return p.Load(ctx, set) }, func(p Part) error { return p.Drop(set.Epoch) })
}

// Drop implements executor.Loader.
func (e *Executor) Drop(epoch uint32) error {
	return joined(e.all(func(p Part) error { return p.Drop(epoch) }))
}

// LoadAdapter implements executor.Adapters: on all ranks, or on none.
func (e *Executor) LoadAdapter(name string, a *model.Adapter) error {
	return e.allOrNone(func(p Part) error { return p.LoadAdapter(name, a) }, func(p Part) error { return p.UnloadAdapter(name) })
}

// UnloadAdapter implements executor.Adapters.
func (e *Executor) UnloadAdapter(name string) error {
	return joined(e.all(func(p Part) error { return p.UnloadAdapter(name) }))
}

// Sleep implements executor.Sleeper: all ranks, or none that did not before.
func (e *Executor) Sleep(kv, weights bool) error {
	undo := func(p Part) error { return p.Wake() }
	if before := e.asleep; before.kv || before.weights { // it sleeps after an error, too
		undo = func(Part) error { return nil }
	}
	if err := e.allOrNone(func(p Part) error { return p.Sleep(kv, weights) }, undo); err != nil {
		return err
	}
	e.asleep.kv, e.asleep.weights = e.asleep.kv || kv, e.asleep.weights || weights
	return nil
}

// Wake implements executor.Sleeper: all ranks, or none.
func (e *Executor) Wake() error {
	was := e.asleep
	if err := e.allOrNone(func(p Part) error { return p.Wake() }, func(p Part) error { return p.Sleep(was.kv, was.weights) }); err != nil {
		return err
	}
	e.asleep.kv, e.asleep.weights = false, false
	return nil
}
