package remote

import (
	"maps"
	"slices"
	"time"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/messages"
)

// calls are those that are not answered.
type calls struct {
	last    uint64           // number given
	settled uint64           // all below have been answered
	open    map[uint64]*call // that were sent
	unsent  []*call          // until there is a connection
	queue   []*call          // until there is room for their sequences
	arrived []uint64         // numbers of answered ones, which an older call keeps from being settled
}

// perform does what a caller asks for: sooner or later its call is answered.
func (l *link) perform(k *call) {
	switch {
	case l.state == leaving:
		k.finish(nil, engine.ErrClosed)
	case k.waits && (len(l.queue) > 0 || !l.fits(k)):
		l.queue = append(l.queue, k)
	default:
		l.submit(k)
	}
}

// submit sends a call, now or when there is a connection.
func (l *link) submit(k *call) {
	l.taken += k.room
	switch {
	case k.run != 0 && k.run != l.run:
		l.settle(k, nil, l.ending)
	case l.state == ready:
		l.send(k)
	default:
		l.unsent = append(l.unsent, k)
		l.connect()
	}
}

// send sends a call over the connection, again if it has been sent before.
func (l *link) send(k *call) {
	again := k.number != 0
	if !again {
		l.last++
		k.number = l.last
		l.open[k.number] = k
	}
	l.advance()
	k.message.Number, k.message.Settled = k.number, l.settled
	l.write(k.message)
	if again && k.dropped != nil {
		l.write(&messages.Drop{Number: k.number})
	}
}

// replied takes the answer to a call. It may have come over an earlier connection.
func (l *link) replied(m *messages.Reply) {
	k := l.open[m.GetNumber()]
	if k == nil {
		return
	}
	delete(l.open, k.number)
	if l.state == ready { // else it is the answer to Hello, over which nothing else was said
		l.known(k.number)
	}
	l.arrive(k.number)
	err := errorOf(m)
	if err != nil {
		m = nil
	}
	if k.left && err == nil && k.undo != nil {
		k.undo(m)
	}
	l.settle(k, m, err)
}

// arrivals are told when there are so many.
const arrivals = 16

// arrive notes that the answer to a call is here, and need not be kept by the engine.
func (l *link) arrive(number uint64) {
	l.advance()
	if number < l.settled {
		return // the next call says so
	}
	if l.arrived = append(l.arrived, number); len(l.arrived) >= arrivals && l.state == ready {
		l.write(&messages.Ack{Answers: l.arrived})
		l.arrived = nil
	}
}

// advance finds the oldest call that is not answered.
func (l *link) advance() {
	for l.settled <= l.last && l.open[l.settled] == nil {
		l.settled++
	}
}

// settle answers a call, and gives back the room that it was to have, unless its answer has
// taken it.
func (l *link) settle(k *call, m *messages.Reply, err error) {
	k.finish(m, err)
	if err != nil {
		l.taken -= k.room
		l.admit()
	}
}

// giveUp ends the waiting for a call, as soon as may be.
func (l *link) giveUp(k *call, cause error) {
	switch is := func(other *call) bool { return other == k }; {
	case k.left || k.dropped != nil:
	case slices.ContainsFunc(l.queue, is):
		l.queue = slices.DeleteFunc(l.queue, is)
		k.finish(nil, cause)
		l.admit()
	case k.number == 0:
		l.unsent = slices.DeleteFunc(l.unsent, is)
		l.settle(k, nil, cause)
	case l.state != ready:
		k.dropped = cause
		k.finish(nil, cause)
	default:
		k.dropped = cause
		l.write(&messages.Drop{Number: k.number})
		time.AfterFunc(grace, func() { l.tell(&overdue{k}) })
	}
}

// unanswered are the calls that were sent, in order.
func (l *link) unanswered() (list []*call) {
	for _, number := range slices.Sorted(maps.Keys(l.open)) {
		list = append(list, l.open[number])
	}
	return list
}

// resend sends all calls that are not answered over a new connection.
func (l *link) resend() {
	for _, k := range l.unanswered() {
		l.send(k)
	}
}

// flush sends the calls for which there was no connection.
func (l *link) flush() {
	list := l.unsent
	l.unsent = nil
	for _, k := range list {
		l.send(k)
	}
}

// failCalls answers all calls that were sent, or name what is no more, and with all the
// others too.
func (l *link) failCalls(err error, all bool) {
	list := l.unanswered()
	clear(l.open)
	for _, k := range l.unsent {
		if all || k.run != 0 {
			list = append(list, k)
		}
	}
	l.unsent = slices.DeleteFunc(l.unsent, func(k *call) bool { return all || k.run != 0 })
	for _, k := range list {
		l.taken -= k.room
		k.finish(nil, err)
	}
	if all {
		queue := l.queue
		l.queue = nil
		for _, k := range queue {
			k.finish(nil, err)
		}
	}
	l.admit()
}

// fits tells whether the engine lets the sequences of a call be open. One that has more
// than it ever does is sent nevertheless, and refused there.
func (l *link) fits(k *call) bool { return l.taken == 0 || l.taken+k.room <= l.most }

// admit sends calls for whose sequences there is room by now.
func (l *link) admit() {
	for len(l.queue) > 0 && l.fits(l.queue[0]) {
		k := l.queue[0]
		l.queue = l.queue[1:]
		l.submit(k)
	}
}
