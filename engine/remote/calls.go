package remote

import (
	"container/list"
	"fmt"
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
	unsent  list.List        // of calls, until there is a connection
	queue   list.List        // of calls, until there is room for them
	bytes   int              // of those that were sent and those that are unsent
	arrived []uint64         // numbers of answered ones, which an older call keeps from being settled
}

// Bytes that calls may have which are not answered, beside those with data: less than the engine takes,
// and than can be sent again at once.
const (
	waitBytes = 32 << 20 // before those that wait for room wait here
	mostBytes = 48 << 20
)

// perform does what a caller asks for: sooner or later its call is answered.
func (l *link) perform(k *call) {
	if k.submission != nil {
		l.submissions[k.submission.order.ID] = k.submission
	}
	switch {
	case l.state == leaving:
		k.finish(nil, engine.ErrClosed)
	case k.waits && (l.queue.Len() > 0 || !l.fits(k)):
		k.line, k.at = &l.queue, l.queue.PushBack(k)
	case k.size > smallCall && l.bytes > 0 && l.bytes+k.size > mostBytes:
		k.finish(nil, fmt.Errorf("%w: calls under way have %d bytes: wait for an answer", ErrLimit, l.bytes))
	default:
		l.submit(k)
	}
}

// submit sends a call, now or when there is a connection.
func (l *link) submit(k *call) {
	l.taken += k.room
	l.bytes += k.size
	switch {
	case k.run != 0 && k.run != l.run:
		l.settle(k, nil, l.ending)
	case l.state == ready:
		l.send(k)
	default:
		k.line, k.at = &l.unsent, l.unsent.PushBack(k)
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
	l.bytes -= k.size
	if err != nil {
		l.taken -= k.room
	}
	l.admit()
}

// giveUp ends the waiting for a call, as soon as may be.
func (l *link) giveUp(k *call, cause error) {
	switch {
	case k.left || k.dropped != nil:
	case k.line == &l.queue:
		k.leaveLine()
		k.finish(nil, cause)
		l.admit()
	case k.line == &l.unsent:
		k.leaveLine()
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
func (l *link) unanswered() (open []*call) {
	for _, number := range slices.Sorted(maps.Keys(l.open)) {
		open = append(open, l.open[number])
	}
	return open
}

// resend sends all calls that are not answered over a new connection.
func (l *link) resend() {
	for _, k := range l.unanswered() {
		l.send(k)
	}
}

// flush sends the calls for which there was no connection.
func (l *link) flush() {
	for l.unsent.Len() > 0 {
		l.send(first(&l.unsent))
	}
}

// first takes the first call of a line.
func first(line *list.List) *call {
	k := line.Front().Value.(*call)
	k.leaveLine()
	return k
}

// leaveLine takes a call from the line that it waits in.
func (k *call) leaveLine() {
	k.line.Remove(k.at)
	k.line, k.at = nil, nil
}

// failCalls answers all calls that were sent, or name what is no more, and with all the
// others too.
func (l *link) failCalls(err error, all bool) {
	failed := l.unanswered()
	clear(l.open)
	var next *list.Element
	for at := l.unsent.Front(); at != nil; at = next {
		next = at.Next()
		if k := at.Value.(*call); all || k.run != 0 {
			k.leaveLine()
			failed = append(failed, k)
		}
	}
	for _, k := range failed {
		l.taken -= k.room
		l.bytes -= k.size
		k.finish(nil, err)
	}
	for all && l.queue.Len() > 0 {
		first(&l.queue).finish(nil, err)
	}
	l.admit()
}

// fits tells whether the engine lets the sequences of a call be open, and has room for its bytes. A
// call that takes more than it ever has is sent nevertheless, and refused there.
func (l *link) fits(k *call) bool {
	return (l.taken == 0 || l.taken+k.room <= l.most) && (l.bytes == 0 || l.bytes+k.size <= waitBytes)
}

// admit sends calls for which there is room by now.
func (l *link) admit() {
	for l.queue.Len() > 0 && l.fits(l.queue.Front().Value.(*call)) {
		l.submit(first(&l.queue))
	}
}
