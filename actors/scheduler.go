package actors

import (
	"slices"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/cbactor/cbactor/blockmgr"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/internal/trace"
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
	meter  *Meter

	unloads []*UnloadAdapter // that wait for the last user

	command *messages.SetMode // the last one obeyed
	still   bool              // said so
	emptied bool              // the cache was given up
	commits []*commit         // taken in, not answered
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
	case ahead[blockmgr.Reserved]:
		err = a.reserved(c, m.it)
	case ahead[blockmgr.Swapped]:
		err = a.swapped(c, m.it)
	case ahead[executor.Result]:
		err = a.stepDone(c, m.it)
	case *UnloadAdapter:
		a.unloads = append(a.unloads, m)
	case *commit:
		a.commit(m)
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
	waiting, started := a.core.Load()
	a.meter.waiting.Store(int64(waiting))
	a.meter.started.Store(int64(started))
}

// advance asks for copies and for the next plan, and reports when nothing goes on as
// the last command wants it. Before that it gives up the cache, if that is wanted.
func (a *scheduler) advance(c actor.Context) {
	if a.command.GetEmpty() && !a.emptied && a.core.Still() {
		a.emptied = true
		a.trace.gaveUp(a.core.GiveUpAll(nil), a.core.Step(), trace.Emptied)
	}
	if m := a.core.Swap(); m != nil {
		c.Request(a.swap, m)
	}
	if r := a.core.Plan(); r != nil {
		c.Request(a.blocks, r)
	}
	a.trace.serving(a.core)
	a.unload(c)
	a.committed(c)
	if !a.still && a.core.Still() {
		a.still = true
		c.Send(a.intake, &messages.Still{Number: a.command.GetNumber(), Begun: a.core.Unfinished()}) // behind the last step's tokens
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
		a.meter.free.Store(int64(m.Free))
		a.meter.preemptions.Add(int64(len(m.Preempted)))
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
	a.meter.step(m.LongestWait)
	if len(t.Items) > 0 {
		c.Send(a.intake, ahead[sched.Tokens]{t})
	} else {
		a.tokens.put(t)
	}
	return nil
}

// setMode obeys the supervisor's newest command. Draining goes on as running does.
func (a *scheduler) setMode(m *messages.SetMode) {
	if m.Number <= a.command.GetNumber() {
		return
	}
	if m.Mode != a.command.GetMode() || m.Shut != a.command.GetShut() || m.Holders != a.command.GetHolders() {
		a.trace.mode(m)
	}
	a.command, a.still, a.emptied = m, false, false
	switch {
	case m.Mode == messages.Mode_MODE_RUNNING, m.Mode == messages.Mode_MODE_DRAINING:
		a.core.Resume()
	case m.Mode == messages.Mode_MODE_FINISHING:
		a.core.Finish()
	case m.Mode == messages.Mode_MODE_PAUSED && !m.Shut:
		a.core.Pause()
	default:
		a.core.Shut()
	}
}
