package remote

import (
	"slices"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/messages"
)

// cancel asks the link to end a sequence of a request, the first one with all others.
type cancel struct {
	submission *submission
	sequence   int
}

// cancelID asks it to do so by an id.
type cancelID struct{ id string }

func (l *link) cancel(sub *submission, place int) {
	if !sub.accepted {
		if place == 0 {
			l.giveUp(sub.call, engine.ErrCancelled)
		}
		return // the others are cancelled when it is accepted
	}
	open := false
	for _, s := range l.streams {
		if s.submission != sub || place != 0 && s.place != place {
			continue
		}
		open, s.cancelled = true, true
		if l.state != ready {
			s.fail(engine.FinishCancelled, nil)
		}
	}
	if open {
		l.ask(cancelling(sub.order.Sequences[place].ID()))
	}
}

func (l *link) cancelID(id string) {
	for _, s := range l.streams {
		switch id {
		case s.submission.order.ID:
			l.cancel(s.submission, 0)
			return
		case s.to.ID():
			l.cancel(s.submission, s.place)
			return
		}
	}
	for _, k := range slices.Concat(l.queue, l.unsent, l.unanswered()) {
		if k.submission != nil && k.submission.order.ID == id {
			l.giveUp(k, engine.ErrCancelled)
		}
	}
}

// ask sends a call whose answer is of no concern.
func (l *link) ask(m *messages.Call) {
	l.submit(&call{message: m, answer: func(*messages.Reply, error) {}})
}

func cancelling(id string) *messages.Call {
	return &messages.Call{What: &messages.Call_Cancel{Cancel: &messages.Cancel{Id: id}}}
}
