package actors

import (
	"slices"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/cbactor/cbactor/blockmgr"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/messages"
	"github.com/cbactor/cbactor/sched"
)

// scheduler is the shell of sched.Scheduler: an event in, its effects out.
//
// Concurrency: single goroutine, sole user of the core.
type scheduler struct {
	peers
	core   *sched.Scheduler
	tokens *tokenPool
	trace  *tracer

	unloads []*UnloadAdapter // that wait for the last user

	number uint64 // of the last command obeyed
	mode   messages.Mode
	halted bool // said so
}

func (a *scheduler) Receive(c actor.Context) {
	var err error
	switch m := c.Message().(type) {
	case *peers:
		a.peers = *m
		return
	case *sched.Submit:
		err = a.core.Submit(*m)
	case *cancelKey:
		a.core.Cancel(m.key)
	case *blockmgr.Reserved:
		err = a.reserved(c, m)
	case *blockmgr.Swapped:
		err = a.swapped(c, m)
	case *executor.Result:
		err = a.stepDone(c, m)
	case *UnloadAdapter:
		a.unloads = append(a.unloads, m)
	case *messages.SetMode:
		a.setMode(m)
	default:
		return
	}
	if err != nil {
		c.Send(a.supervisor, &fatal{"scheduler", err})
		return
	}
	a.advance(c)
}

// advance asks for copies and for the next plan, and reports when a halt has come to rest.
func (a *scheduler) advance(c actor.Context) {
	if m := a.core.Swap(); m != nil {
		c.Request(a.swap, m)
	}
	if r := a.core.Plan(); r != nil {
		c.Request(a.blocks, r)
	}
	a.unload(c)
	if a.mode == messages.Mode_MODE_HALTING && !a.halted && a.core.Quiet() {
		a.halted = true
		c.Send(a.intake, &messages.Halted{Number: a.number}) // behind the last step's tokens
	}
}

// unload lets the executor free the adapters whose last user is gone.
func (a *scheduler) unload(c actor.Context) {
	a.unloads = slices.DeleteFunc(a.unloads, func(m *UnloadAdapter) bool {
		if a.core.Uses(m.Name) {
			return false
		}
		c.Send(a.executor, m)
		return true
	})
}

func (a *scheduler) reserved(c actor.Context, m *blockmgr.Reserved) error {
	b, err := a.core.Reserved(m)
	if err == nil {
		a.trace.planned(a.core, m)
	}
	a.handOver(c, b)
	return err
}

func (a *scheduler) swapped(c actor.Context, m *blockmgr.Swapped) error {
	b, err := a.core.Swapped(m)
	a.handOver(c, b)
	return err
}

// handOver sends a batch off, nil: none, and tells intake whom it starts.
func (a *scheduler) handOver(c actor.Context, b *executor.Batch) {
	if b == nil {
		return
	}
	a.trace.handedOver(a.core, b)
	if keys := a.core.Begun(b, nil); len(keys) > 0 {
		c.Send(a.intake, &begun{keys})
	}
	c.Send(a.executor, b)
}

func (a *scheduler) stepDone(c actor.Context, m *executor.Result) error {
	t := a.tokens.get()
	if err := a.core.StepDone(m, t); err != nil {
		return err
	}
	a.trace.tokens(t)
	if len(t.Items) > 0 {
		c.Send(a.intake, t)
	} else {
		a.tokens.put(t)
	}
	return nil
}

// setMode obeys the supervisor's newest command. Draining goes on as running does.
func (a *scheduler) setMode(m *messages.SetMode) {
	if m.Number <= a.number {
		return
	}
	a.number, a.mode, a.halted = m.Number, m.Mode, false
	a.trace.mode(m.Mode)
	switch m.Mode {
	case messages.Mode_MODE_RUNNING, messages.Mode_MODE_DRAINING:
		a.core.Resume()
	default:
		a.core.Pause()
	}
}
