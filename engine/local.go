package engine

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/cbactor/cbactor/actors"
	"github.com/cbactor/cbactor/sampling"
)

// local is the Place of an Engine: its actors.
type local struct{ engine *Engine }

// Check implements Place.
func (l local) Check(o *Order) error {
	if l.engine.broken.Load() {
		return errSendWeights
	}
	return l.engine.options.Limits.CheckLength(len(o.PromptIDs), o.Score)
}

// Prepare implements Place.
func (l local) Prepare(o *Order) (Submission, error) {
	e := l.engine
	least, err := e.versions.least(o.MinVersion)
	if err != nil {
		return nil, err
	}
	s := &submission{engine: e, message: e.message(o), sequences: o.Sequences}
	s.message.Version = least
	if err := e.refused(s.message); err != nil {
		return nil, err
	}
	e.recording.request(s.message, o.Sequences)
	return s, nil
}

// refused says why a request can never be accepted, as far as can be told before it is
// submitted.
func (e *Engine) refused(m *actors.Submit) error {
	s := e.session.Load()
	if err := s.adapters.use(m.Adapter, func() {}); err != nil {
		return err
	}
	return s.system.Check(m)
}

// message is what intake gets for an order.
func (e *Engine) message(o *Order) *actors.Submit {
	eos := o.EOS
	if eos == nil {
		eos = e.info.EOS
	}
	if o.IgnoreEOS {
		eos = nil
	}
	m := &actors.Submit{ID: o.ID, IDs: slices.Clone(o.PromptIDs), MaxNew: o.MaxNewTokens, EOS: slices.Clone(eos),
		Sampling: copied(o.Sampling), Seed: e.seed(o), Priority: int32(o.Priority), Sink: o.Sequences[0].record, Urgent: o.urgent,
		Score: o.Score, Private: o.Private, Adapter: o.Adapter, Salt: salt(o.Adapter, o.Salt), Stop: o.Stop, Deadline: o.Deadline, FirstToken: o.FirstToken, KV: o.KV}
	if o.MaxStaleness != nil {
		m.Commits = int32(*o.MaxStaleness) + 1
	}
	for _, child := range o.Sequences[1:] {
		m.Children = append(m.Children, child.record)
	}
	return m
}

// seed is the request's own, or one drawn for it.
func (e *Engine) seed(o *Order) uint64 {
	if o.Seed != nil {
		return *o.Seed
	}
	return SeedOf(e.info.Seed, o.ID)
}

// copied are parameters whose slices the caller may change.
func copied(p sampling.Params) sampling.Params {
	p.Bias, p.Ends, p.Allowed, p.BadWords = slices.Clone(p.Bias), slices.Clone(p.Ends), slices.Clone(p.Allowed), slices.Clone(p.BadWords)
	for i, word := range p.BadWords {
		p.BadWords[i] = slices.Clone(word)
	}
	return p
}

// Cancel implements Place.
func (l local) Cancel(id string) {
	if s := l.engine.session.Load(); !s.atRest() {
		s.system.Cancel(id, nil)
	}
}

// Rest implements Place.
func (l local) Rest(ctx context.Context, changed <-chan struct{}) (resting bool, err error) {
	s := l.engine.session.Load()
	if s.atRest() {
		return true, nil
	}
	select {
	case <-changed:
		return false, nil
	case <-s.system.AtRest():
	case <-s.system.Done():
	case <-ctx.Done():
		return false, ctx.Err()
	}
	return true, nil
}

// submission is an order for the actors of an Engine.
type submission struct {
	engine    *Engine
	message   *actors.Submit
	sequences []Sequence
	session   atomic.Pointer[session] // that it is submitted to
}

// Submit implements Submission.
func (s *submission) Submit(wait context.Context) (<-chan error, <-chan struct{}, error) {
	session, reply := s.engine.session.Load(), make(chan error, 1)
	s.message.Wait, s.message.Reply = wait, reply
	s.session.Store(session)
	err := session.adapters.use(s.message.Adapter, func() { session.system.Submit(s.message) })
	return reply, session.system.Done(), err
}

// Lost implements Submission.
func (s *submission) Lost() error { return s.engine.ended(s.session.Load()) }

// Cancel implements Submission.
func (s *submission) Cancel(sequence int) {
	if session := s.session.Load(); session != nil {
		r := s.sequences[sequence].record
		session.system.Cancel(r.id, r)
	}
}
