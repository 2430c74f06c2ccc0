package actors

import (
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/cbactor/cbactor/executor"
)

// executorActor hands batches over; a goroutine of its own, locked to its thread,
// runs them and reports each result to the scheduler.
//
// Concurrency: Start is called by the actor, Finish by that goroutine, which ends
// when the executor is closed.
type executorActor struct {
	peers
	ex      executor.Executor
	results *resultPool
	moves   *sync.WaitGroup // sleeps and wakes under way
	running bool            // the goroutine was started
	ended   chan struct{}   // closed when the goroutine has ended, or was never started
}

func (a *executorActor) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *peers:
		a.peers, a.running = *m, true
		go a.collect(c.ActorSystem().Root)
	case *executor.Batch:
		if err := a.ex.Start(m); err != nil {
			c.Send(a.supervisor, &fatal{"executor", err})
		}
	case *UnloadAdapter:
		m.Done(a.unload(m.Name))
	case *nap:
		a.nap(c, m)
	case *actor.Stopped:
		if !a.running {
			close(a.ended)
		}
	}
}

func (a *executorActor) unload(name string) error {
	ex, ok := a.ex.(executor.Adapters)
	if !ok {
		return fmt.Errorf("%w: adapter %q", executor.ErrUnsupported, name)
	}
	return ex.UnloadAdapter(name)
}

// collect sends the results of all steps to the scheduler until the executor is closed.
func (a *executorActor) collect(root *actor.RootContext) {
	defer close(a.ended)
	runtime.LockOSThread() // never unlocked: the thread ends with the goroutine, pinned as it may be
	defer func() {
		if r := recover(); r != nil {
			root.Send(a.supervisor, &fatal{"executor", fmt.Errorf("panic in a step: %v", r)})
		}
	}()
	for {
		r := a.results.get()
		if err := a.ex.Finish(r); err != nil {
			if !errors.Is(err, executor.ErrClosed) {
				root.Send(a.supervisor, &fatal{"executor", err})
			}
			return
		}
		root.Send(a.scheduler, ahead[executor.Result]{r})
	}
}
