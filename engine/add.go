package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/cbactor/cbactor/actors"
)

// Bounds of a request.
const (
	maxSequences = 128
	maxPriority  = actors.MaxPriority
)

// AddRequest submits a request and returns its stream. A request that can never
// be served, or not now, is refused at once with a typed error, before anything is
// queued. The request lives as long as ctx: when that ends, it is cancelled.
func (e *Engine) AddRequest(ctx context.Context, r Request) (*Stream, error) {
	if r.ID != "" {
		return e.add(ctx, r)
	}
	for { // a name of ours may be in use by the caller's choice
		r.ID = "req-" + strconv.FormatUint(e.lastID.Add(1), 10)
		s, err := e.add(ctx, r)
		if !errors.Is(err, ErrDuplicateID) {
			return s, err
		}
	}
}

func (e *Engine) add(ctx context.Context, r Request) (*Stream, error) {
	if err := e.check(r); err != nil {
		return nil, fmt.Errorf("request %q: %w", r.ID, err)
	}
	s, submit := e.submission(r)
	reply := make(chan error, 1)
	submit.Reply = reply
	for _, s := range append(s.children, s) {
		s.bind(ctx)
	}
	e.system.Submit(submit)
	var err error
	select {
	case err = <-reply:
	case <-e.system.Done():
		select {
		case err = <-reply: // both were there: it was accepted and has ended, or refused
		default:
			err = e.ended()
		}
	}
	if err == nil && ctx.Err() != nil { // it may have been cancelled before it was there
		s.cancel()
		err = ctx.Err()
	}
	if err != nil {
		for _, s := range append(s.children, s) {
			s.unbind()
		}
		return nil, fmt.Errorf("request %q: %w", r.ID, err)
	}
	return s, nil
}

// check refuses what need not be copied first.
func (e *Engine) check(r Request) error {
	switch {
	case !r.countsRight():
		return fmt.Errorf("%w: n is %d, must be from 1 to %d", ErrParams, r.N, maxSequences)
	case r.Priority < -maxPriority || r.Priority > maxPriority:
		return fmt.Errorf("%w: priority is %d, must be from %d to %d", ErrParams, r.Priority, -maxPriority, maxPriority)
	}
	return e.limits.CheckLength(len(r.PromptIDs), r.Score)
}

func (r *Request) countsRight() bool { return r.N >= 0 && r.N <= maxSequences }

// sequences is how many outputs a request has; one whose N is refused has one.
func (r *Request) sequences() int {
	if r.N > 1 && r.countsRight() {
		return r.N
	}
	return 1
}

// submission is a request's streams and what intake gets. The engine's copy of the
// prompt is not the streams' one, which the caller gets to see.
func (e *Engine) submission(r Request) (*Stream, *actors.Submit) {
	eos := r.EOS
	if eos == nil {
		eos = e.info.EOS
	}
	if r.IgnoreEOS {
		eos = nil
	}
	prompt := slices.Clip(slices.Clone(r.PromptIDs))
	s := newStream(r.ID, prompt)
	system := e.system // not the engine: a stream that is kept keeps no more than it needs
	s.cancel = func() { system.Cancel(s.id, sink{s}) }
	m := &actors.Submit{ID: r.ID, IDs: slices.Clone(r.PromptIDs), MaxNew: r.MaxNewTokens, EOS: slices.Clone(eos),
		Sampling: r.Sampling, Seed: e.seed(r), Priority: int32(r.Priority), Sink: sink{s}}
	for i := 1; i < r.N; i++ {
		child := newStream(actors.ChildID(r.ID, i), prompt)
		child.cancel = func() { system.Cancel(child.id, sink{child}) }
		s.children = append(s.children, child)
		m.Children = append(m.Children, sink{child})
	}
	return s, m
}

// bind ties a request to a context.
func (s *Stream) bind(ctx context.Context) {
	if ctx.Done() != nil {
		s.unbind = context.AfterFunc(ctx, s.cancel)
	}
}

// seed is the request's own, or one drawn from the engine's and the request's id,
// so that a run with ids of the caller's can be repeated from the engine's seed.
func (e *Engine) seed(r Request) uint64 {
	if r.Seed != nil {
		return *r.Seed
	}
	h := e.info.Seed
	for _, b := range []byte(r.ID) { // FNV-1a
		h = (h ^ uint64(b)) * 1099511628211
	}
	return rand.NewPCG(e.info.Seed, h).Uint64()
}

// ended says why requests are not taken any more, once the actors are gone.
func (e *Engine) ended() error {
	if err := e.system.Err(); err != nil {
		return fmt.Errorf("%w: %w", ErrClosed, err)
	}
	return ErrClosed
}
