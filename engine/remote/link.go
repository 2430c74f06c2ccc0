package remote

import (
	"fmt"
	"sync"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/internal/obs"
	"github.com/cbactor/cbactor/internal/wire"
	"github.com/cbactor/cbactor/messages"
)

// link is the actor that owns the connection, and all that is open over it, which outlasts
// connections. What callers want comes as messages; answers go to functions and records, none
// of which blocks.
type link struct {
	options Options
	system  *actor.ActorSystem
	self    *actor.PID
	ended   chan struct{} // closed: it is no more
	shut    sync.Once

	line
	calls
	sequences
	holds map[uint64]*hold

	run    int   // of the engine as the client knows it: what was made in another one is no more
	ending error // how the last one has ended
}

// newLink spawns a link without a connection.
func newLink(o Options) *link {
	l := &link{
		options:   o,
		system:    obs.System(o.Log),
		ended:     make(chan struct{}),
		calls:     calls{settled: 1, open: map[uint64]*call{}},
		sequences: sequences{streams: map[uint64]*sequence{}, submissions: map[string]*submission{}},
		holds:     map[uint64]*hold{},
		line:      line{patience: o.Patience},
		run:       1,
	}
	l.self = l.system.Root.Spawn(actor.PropsFromProducer(func() actor.Actor { return l }))
	return l
}

// close ends the link and waits for that.
func (l *link) close() {
	l.tell(&leave{})
	<-l.ended
	l.shut.Do(l.system.Shutdown)
}

// over tells whether the link has ended.
func (l *link) over() bool {
	select {
	case <-l.ended:
		return true
	default:
		return false
	}
}

// tell sends the link a message.
func (l *link) tell(m any) { l.system.Root.Send(l.self, m) }

// write sends the engine a message, which is encoded at once.
func (l *link) write(m any) { l.system.Root.Send(l.peer, m) }

// leave ends the link: all that is open ends, here and at the engine.
type leave struct{}

// Receive implements actor.Actor.
func (l *link) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *call:
		l.perform(m)
	case *giveUp:
		l.giveUp(m.call, m.cause)
	case *overdue:
		m.call.finish(nil, m.call.dropped)
	case *cancel:
		l.cancel(m.submission, m.sequence)
	case *cancelID:
		l.cancelID(m.id)
	case *released:
		delete(l.holds, m.hold.number)
	case *leave:
		l.leave()
	case *actor.Stopped:
		close(l.ended)
	default:
		l.receive(c.Sender(), m)
	}
}

// receive takes what comes of the connection.
func (l *link) receive(sender *actor.PID, m any) {
	switch m := m.(type) {
	case *connect:
		l.first = m.answer
		l.connect()
	case *dialled:
		l.dialled(m)
	case *again:
		l.again(m.attempt)
	case *timeout:
		l.timeout(m)
	case *reattach:
		l.reattach(m)
	case *wire.Closed:
		l.closed(m)
	case *messages.Reply:
		if sender.Equal(l.peer) {
			l.heard = true // until it is welcomed, that is not
			l.replied(m)
		}
	case *messages.News:
		if sender.Equal(l.peer) {
			l.heard = true
			l.news(m)
		}
	case *messages.Lost:
		if h := l.holds[m.GetHold()]; h != nil && sender.Equal(l.peer) {
			delete(l.holds, h.number)
			h.end(errorOf(m))
		}
	}
}

// endRun ends what the engine knew of the client and knows no more: what was sent, and with
// all what was to be, too.
func (l *link) endRun(ofCalls, ofRequests error, all bool) {
	l.run++
	l.ending = ofCalls
	l.failCalls(ofCalls, all)
	l.failSequences(ofRequests)
	for _, h := range l.holds {
		h.end(fmt.Errorf("%w: %w", engine.ErrHoldLost, ofCalls))
	}
	clear(l.holds)
}

// leave says goodbye, over another connection where there is none now, and ends the link when that was
// answered, cannot be said or has taken too long.
func (l *link) leave() {
	if l.state == leaving {
		return
	}
	was := l.state
	l.state = leaving
	l.endRun(engine.ErrClosed, engine.ErrStopped, true)
	switch {
	case was == ready:
		l.goodbye()
	case l.engine != "": // which keeps what the client had
		l.drop()
		l.try()
	default:
		l.hangUp()
		return
	}
	l.after(goodbyeTime)
}

// goodbye lets the engine forget the client, and ends the link when it has.
func (l *link) goodbye() {
	l.send(&call{message: &messages.Call{What: &messages.Call_Goodbye{Goodbye: &messages.Goodbye{}}}, answer: func(*messages.Reply, error) { l.hangUp() }})
}

// hangUp ends the connection and the link.
func (l *link) hangUp() {
	l.drop()
	if l.stop != nil {
		l.stop()
	}
	l.system.Root.Poison(l.self)
}
