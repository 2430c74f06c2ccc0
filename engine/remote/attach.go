package remote

import (
	"errors"
	"fmt"
	"time"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/messages"
)

// attach asks for the News of all sequences again, over a new connection.
func (l *link) attach() {
	if len(l.ends) > 0 {
		m := new(messages.Ack)
		for i := range l.ends {
			m.Taken = append(m.Taken, l.ends[i].taken)
			l.ends[i].call = l.last + 1
		}
		l.write(m)
	}
	for _, s := range l.streams {
		l.attachOne(s)
	}
}

// attachOne asks for the News of a sequence from where they have come to.
func (l *link) attachOne(s *sequence) {
	m := &messages.Attach{Id: s.to.ID(), Offset: uint32(s.offset), Window: window, Text: s.text != nil}
	if s.text != nil {
		m.TextOffset = uint64(s.text.bytes())
	}
	l.send(&call{message: &messages.Call{What: &messages.Call_Attach{Attach: m}}, brief: true, answer: func(r *messages.Reply, err error) { l.attached(s, r, err) }})
}

// reattach asks the link to attach a sequence, for which there was no room, over the same connection.
type reattach struct {
	sequence *sequence
	attempt  int
}

func (l *link) reattach(m *reattach) {
	if l.state == ready && m.attempt == l.attempt && l.streams[m.sequence.stream] == m.sequence {
		l.attachOne(m.sequence)
	}
}

// attached goes on with a sequence.
func (l *link) attached(s *sequence, r *messages.Reply, err error) {
	if l.streams[s.stream] != s {
		return
	}
	if errors.Is(err, ErrLimit) { // later
		attempt := l.attempt
		time.AfterFunc(lastDelay, func() { l.tell(&reattach{s, attempt}) })
		return
	}
	list := r.GetAccepted().GetSequences()
	if err == nil && (len(list) != 1 || list[0].GetStream() != s.stream) {
		err = fmt.Errorf("%w: another sequence is attached", ErrMalformed)
	}
	if err != nil {
		s.fail(engine.FinishFailed, fmt.Errorf("%w: %w", engine.ErrFailed, err))
		l.forget(s)
		l.admit()
		return
	}
	s.live, s.prompt, s.acked, s.unsaid = true, nil, s.offset, 0
}

// detach takes note that there is no connection. What is cancelled ends now.
func (l *link) detach() {
	for _, s := range l.streams {
		s.live = false
		if s.cancelled {
			s.fail(engine.FinishCancelled, nil)
		}
	}
}
