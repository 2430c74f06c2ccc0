package actors

import (
	"context"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/cbactor/cbactor/sched"
)

// commit tells the scheduler that other weights are ready. The answer comes in a
// channel with room for one, when no step computes with those before or will.
type commit struct {
	sched.Commit
	answer chan<- error
}

func (*commit) ControlMessage() {}

// Commit lets the next plan compute with other weights, which the executor has
// loaded, and waits until no step in flight computes with those before, in every
// mode. An error of class sched.ErrProtocol changes nothing; ctx bounds the wait
// only: its error, and that of a System that ended, leave open what computes.
func (s *System) Commit(ctx context.Context, c sched.Commit) error {
	answer := make(chan error, 1)
	s.sys.Root.Send(s.scheduler, &commit{c, answer})
	select {
	case err := <-answer:
		return err
	case <-s.done:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// commit takes a commit in.
func (a *scheduler) commit(m *commit) {
	if err := a.core.Commit(m.Commit); err != nil {
		m.answer <- err // has room for one: never waits
		return
	}
	a.commits = append(a.commits, m)
}

// committed passes on whom commits have ended, and answers those that are done.
func (a *scheduler) committed(c actor.Context) {
	if t := a.tokens.get(); a.core.Ended(t) {
		c.Send(a.intake, ahead[sched.Tokens]{t})
	} else {
		a.tokens.put(t)
	}
	for len(a.commits) > 0 && a.commits[0].Epoch <= a.core.Oldest() {
		a.commits[0].answer <- nil
		a.commits = a.commits[1:]
	}
}
