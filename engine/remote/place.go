package remote

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"google.golang.org/protobuf/proto"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/internal/convert"
	"github.com/cbactor/cbactor/engine/texts"
	"github.com/cbactor/cbactor/messages"
)

// place is the engine.Place of a Client: the engine at the far end.
type place struct{ client *Client }

// Check implements engine.Place. The engine checks.
func (place) Check(*engine.Order) error { return nil }

// Prepare implements engine.Place.
func (p place) Prepare(o *engine.Order) (engine.Submission, error) {
	r := texts.Request{Request: o.Request}
	asked, _ := o.More.(*asked)
	if asked != nil {
		r = asked.request
		r.Request = o.Request
	}
	request, err := convert.Request(r)
	if err != nil {
		return nil, err
	}
	m := &messages.Generate{Request: proto.CloneOf(request), Window: window}
	s := &submission{client: p.client, order: *o, generate: m, reply: make(chan error, 1)}
	if asked != nil && p.client.Model().Text {
		m.Text = true
		asked.texts = make([]*transcript, len(o.Sequences))
		for i := range asked.texts {
			asked.texts[i] = new(transcript)
		}
		s.texts = asked.texts
	}
	return s, nil
}

// Cancel implements engine.Place.
func (p place) Cancel(id string) { p.client.link.tell(&cancelID{id}) }

// Rest implements engine.Place: the engine tells when no session is under way.
func (p place) Rest(ctx context.Context, changed <-chan struct{}) (resting bool, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-changed:
			cancel(errChanged)
		case <-ctx.Done():
		}
	}()
	err = p.client.Join(ctx)
	switch {
	case context.Cause(ctx) == errChanged:
		return false, nil
	case ctx.Err() != nil:
		return false, ctx.Err()
	case err == nil, errors.Is(err, engine.ErrCrashed), errors.Is(err, engine.ErrNotRunning):
		return true, nil
	}
	return false, err
}

// errChanged ends a wait for rest that is not needed any more.
var errChanged = errors.New("something has changed")

// submission is a request on its way to the engine. What is not said otherwise is the link's.
type submission struct {
	client   *Client
	order    engine.Order
	generate *messages.Generate
	texts    []*transcript // of the sequences; nil: nobody reads them
	reply    chan error
	sent     atomic.Bool // anybody's: the link will have heard of it

	call      *call
	accepted  bool
	left      int         // sequences that are open
	sequences []*sequence // those that were accepted, by their places
}

// Submit implements engine.Submission.
func (s *submission) Submit(wait context.Context) (<-chan error, <-chan struct{}, error) {
	s.generate.Request.Wait = wait != nil
	k := &call{message: &messages.Call{What: &messages.Call_Generate{Generate: s.generate}}, room: len(s.order.Sequences), waits: wait != nil, submission: s}
	if err := k.sendable(); err != nil {
		return nil, nil, err
	}
	l := s.client.link
	k.answer = func(r *messages.Reply, err error) { l.accepted(s, r, err) }
	k.undo = func(r *messages.Reply) { l.unwanted(s, r) }
	s.call = k
	l.tell(k)
	s.sent.Store(true)
	return s.reply, l.ended, nil
}

// Lost implements engine.Submission.
func (s *submission) Lost() error { return engine.ErrClosed }

// Cancel implements engine.Submission.
func (s *submission) Cancel(sequence int) {
	if s.sent.Load() {
		s.client.link.tell(&cancel{s, sequence})
	}
}

// accepted begins the sequences of a request, or tells why there are none.
func (l *link) accepted(s *submission, r *messages.Reply, err error) {
	if err != nil {
		if s.call.dropped != nil {
			err = engine.ErrCancelled
		}
		l.disown(s)
		s.reply <- err
		return
	}
	list := r.GetAccepted().GetSequences()
	if len(list) != len(s.order.Sequences) {
		l.taken -= s.call.room
		l.disown(s)
		l.ask(cancelling(s.order.ID))
		s.reply <- fmt.Errorf("%w: %d sequences are accepted, there were to be %d", ErrMalformed, len(list), len(s.order.Sequences))
		return
	}
	s.accepted, s.left = true, len(list)
	for i, m := range list {
		q := &sequence{submission: s, place: i, to: s.order.Sequences[i], stream: m.GetStream(), live: true}
		if s.texts != nil {
			q.text = s.texts[i]
		}
		if ids := r.GetAccepted().GetPrompt(); ids != nil {
			q.to.Prompt(ids.GetIds())
		}
		l.streams[q.stream] = q
		s.sequences = append(s.sequences, q)
	}
	s.reply <- nil
}

// unwanted ends a request that was accepted when nobody waited for it any more.
func (l *link) unwanted(s *submission, r *messages.Reply) {
	for i, m := range r.GetAccepted().GetSequences() {
		if i >= s.call.room {
			break
		}
		l.streams[m.GetStream()] = &sequence{submission: s, place: i, to: s.order.Sequences[i], stream: m.GetStream(), live: true, told: true}
	}
	l.ask(cancelling(s.order.ID))
}
