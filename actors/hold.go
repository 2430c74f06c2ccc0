package actors

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/cbactor/cbactor/executor"
)

// PauseMode says what becomes of requests that have begun when a pause begins.
type PauseMode uint8

const (
	PauseKeep  PauseMode = iota // they keep their place and cache, and go on afterwards
	PauseWait                   // they complete first
	PauseAbort                  // they end as aborted with what they have, and so do those that wait
)

// PauseOptions say how to pause.
type PauseOptions struct {
	Mode   PauseMode
	Refuse bool          // new requests are refused with ErrPaused, else they wait
	Lease  time.Duration // the pause is held no longer without Renew; 0: as long as it takes
}

// Hold is one holder's share of a pause. The supervisor ends it.
type Hold struct {
	system *System
	o      PauseOptions
	done   chan struct{}

	mu  sync.Mutex
	err error // why it is not held any more
}

// Pause waits until no step runs, and keeps it so until all who hold the pause have
// left. The hold is given up when ctx ends, then and later.
func (s *System) Pause(ctx context.Context, o PauseOptions) (*Hold, error) {
	h := &Hold{system: s, o: o, done: make(chan struct{})}
	paused := make(chan error, 1)
	s.tell(&takeHold{h, paused})
	err := s.await(ctx, paused)
	if err != nil {
		left := make(chan error, 1)
		s.tell(&leaveHold{h, err, left})
		s.await(context.Background(), left) // so that nobody is counted who has gone
		return nil, err
	}
	if ctx.Done() != nil {
		stop := context.AfterFunc(ctx, func() { s.tell(&leaveHold{h, fmt.Errorf("%w: %w", ErrHoldLost, context.Cause(ctx)), nil}) })
		go func() { // so that the context does not keep a hold that has ended
			<-h.done
			stop()
		}()
	}
	return h, nil
}

// Done is closed when the pause is not held any more: see Err.
func (h *Hold) Done() <-chan struct{} { return h.done }

// Err says why the hold has ended: nil if it has not, or was released.
func (h *Hold) Err() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.err
}

// Release leaves the pause. It answers why the hold had ended before, nil if it was
// released.
func (h *Hold) Release() error {
	left := make(chan error, 1)
	h.system.tell(&leaveHold{h, nil, left})
	return h.system.await(context.Background(), left)
}

// Renew lets the lease begin again.
func (h *Hold) Renew() error {
	renewed := make(chan error, 1)
	h.system.tell(&renewHold{h, renewed})
	return h.system.await(context.Background(), renewed)
}

// end is called by the supervisor, once.
func (h *Hold) end(err error) {
	h.mu.Lock()
	h.err = err
	h.mu.Unlock()
	close(h.done)
}

// Sleep pauses, gives up the cache if kv says so, and lets the executor give back the
// memory of cache, weights or both, until Wake. Requests are kept. When ctx ends first
// it is as if it was never called. An executor that cannot do it is executor.ErrUnsupported.
func (s *System) Sleep(ctx context.Context, kv, weights bool) error {
	_, err := s.sleep(ctx, kv, weights)
	return err
}

// SleepWeights is Sleep of the weights until wake, which ends this sleep alone: where
// others let something sleep, that and the weights go on sleeping.
func (s *System) SleepWeights(ctx context.Context) (wake func(context.Context) error, err error) {
	n, err := s.sleep(ctx, false, true)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		return s.nap(ctx, &nap{wake: true, undoes: n, answer: make(chan error, 1)})
	}, nil
}

func (s *System) sleep(ctx context.Context, kv, weights bool) (*nap, error) {
	if _, able := s.ex.(executor.Sleeper); !able {
		return nil, fmt.Errorf("%w: executor %s cannot sleep", executor.ErrUnsupported, s.ex.Info().Name)
	}
	n := &nap{kv: kv, weights: weights, answer: make(chan error, 1)}
	err := s.nap(ctx, n)
	if err != nil && ctx.Err() != nil {
		s.tell(&nap{wake: true, undoes: n, answer: make(chan error, 1)})
	}
	return n, err
}

// Wake takes the memory again that Sleep gave back, and ends its pause. It does
// nothing where nothing sleeps. After an error it still sleeps.
func (s *System) Wake(ctx context.Context) error {
	return s.nap(ctx, &nap{wake: true, answer: make(chan error, 1)})
}

func (s *System) nap(ctx context.Context, n *nap) error {
	s.tell(n)
	return s.await(ctx, n.answer)
}

// tell sends the supervisor a message.
func (s *System) tell(m any) { s.sys.Root.Send(s.supervisor, m) }

// await waits for the supervisor's answer.
func (s *System) await(ctx context.Context, answer <-chan error) error {
	select {
	case err := <-answer:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-s.done:
	}
	select {
	case err := <-answer: // both were there
		return err
	default:
	}
	if s.err != nil {
		return fmt.Errorf("%w: %w", ErrNotRunning, s.err)
	}
	return ErrNotRunning
}
