package server

import (
	"context"
	"errors"
	"sync"

	"github.com/cbactor/cbactor/engine"
)

// naps are what HTTP knows of a model's sleep, beside its hold, which stands among the
// pauses; the rest is the engine's.
type naps struct {
	mu    sync.Mutex
	woken engine.Part // of what sleeps, for which wake was asked
}

// sleep pauses a model, by a hold of which it has one, and gives parts of its memory back; 0:
// it only pauses. What sleeps already goes on sleeping. If ctx ends before it returns, it is
// undone.
func (s *Server) sleep(ctx context.Context, m *Model, parts engine.Part, o pauseOptions) error {
	if err := s.closing(); err != nil {
		return err
	}
	p := &m.trainer.pauses
	mine, err := p.takeOne(ctx, s.ending, m.Engine, o, &p.nap)
	if err != nil || parts == 0 {
		return err
	}
	if err := m.Engine.Sleep(ctx, parts); err != nil {
		if mine {
			err = errors.Join(err, p.release(p.napping()))
		}
		return err
	}
	m.trainer.naps.ask(0, parts)
	return nil
}

// wake asks for parts of the memory that a model has given back, and leaves sleep's pause.
// An engine takes its memory again as a whole, so that it sleeps on, which is told, until each
// part that sleeps was asked for.
func (s *Server) wake(ctx context.Context, m *Model, parts engine.Part) (sleeps bool, err error) {
	n := &m.trainer.naps
	if asleep := m.Engine.Status().Asleep; asleep != 0 {
		if woken := n.ask(parts, 0); asleep&^woken != 0 {
			return true, nil
		}
		if err := m.Engine.Wake(ctx); err != nil {
			return true, err
		}
		n.ask(0, asleep)
	}
	return false, m.trainer.pauses.release(m.trainer.pauses.napping())
}

// ask notes for which parts wake was asked, and for which it has to be again.
func (n *naps) ask(parts, again engine.Part) (woken engine.Part) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.woken = (n.woken | parts) &^ again
	return n.woken
}

// sleeps tells whether a model sleeps, and which parts of its memory do.
func (m *Model) sleeps() (bool, engine.Part) {
	asleep := m.Engine.Status().Asleep
	return asleep != 0 || m.trainer.pauses.napping() != nil, asleep
}
