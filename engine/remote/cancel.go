package remote

import (
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
	ended := sub.sequences
	if place != 0 {
		ended = ended[place : place+1]
	}
	open := false
	for _, s := range ended {
		if l.streams[s.stream] != s {
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

// cancelID ends what has an id: a request, or the sequence of one that is called after it.
func (l *link) cancelID(id string) {
	if sub := l.submissions[id]; sub != nil {
		l.cancel(sub, 0)
		return
	}
	for _, s := range l.streams {
		if s.place > 0 && s.to.ID() == id {
			l.cancel(s.submission, s.place)
			return
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
