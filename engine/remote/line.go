package remote

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/cbactor/cbactor/internal/wire"
)

// Times of a connection.
const (
	dialTime    = 5 * time.Second         // to make one
	helloTime   = 10 * time.Second        // until it is welcomed
	goodbyeTime = 2 * time.Second         // until goodbye is answered
	firstDelay  = 50 * time.Millisecond   // before another try, doubled each time
	lastDelay   = 1000 * time.Millisecond // at most
	lastHeard   = 200 * time.Millisecond  // at most, where something came over the one before
	lasting     = time.Second             // a connection that ends sooner is followed by another one after a delay
)

// state is that of the line.
type state int

const (
	dormant  state = iota // there is no connection, and nobody wants one
	dialling              // or waiting to
	greeting              // there is one, which is not welcomed yet
	ready
	leaving // for good
)

// line is the way to the engine: one connection after the other.
type line struct {
	state    state
	conn     *wire.Conn         // nil: none
	peer     *actor.PID         // the engine, over it
	dead     *actor.PID         // of a connection that had ended before it was heard of
	stop     context.CancelFunc // of the last try; nil: there was none
	attempt  int                // counts tries, and what is waited for in each
	lost     time.Time          // since when there is no connection over which anything has come
	delay    time.Duration
	begun    time.Time               // of the connection
	heard    bool                    // over it, beside Welcome
	guest    int                     // how many the client has been to the engine: it is another one when it has given up
	engine   string                  // that has welcomed it; "": none yet
	first    chan<- error            // told how the first connection is welcomed; nil: it was
	said     atomic.Pointer[welcome] // by the engine that was connected last; nil before. Callers read it
	patience time.Duration           // Options.Patience, or how long the engine keeps what the client has
}

// connect tells the link to make the first connection.
type connect struct{ answer chan<- error }

// dialled is what a try to connect has come to, again that it is time for the next one,
// timeout that something has not come in time.
type (
	dialled struct {
		attempt int
		conn    *wire.Conn
		err     error
	}
	again   struct{ attempt int }
	timeout struct{ attempt int }
)

// connect begins to connect, if there is no connection.
func (l *link) connect() {
	if l.state == dormant {
		l.lost, l.delay = time.Now(), firstDelay
		l.dial()
	}
}

// despair gives up all that is open. The next call tries to connect again, as another guest:
// what the engine still has of this one is nobody's.
func (l *link) despair(cause error) {
	l.drop()
	l.state = dormant
	l.guest++
	l.engine = ""
	l.options.Log.Warn().Err(cause).Str("engine", l.options.address).Msg("the engine cannot be reached")
	l.endRun(ofCall(cause), ofOpen(cause), true)
	l.introduced(cause)
}

// introduced answers who waits for the first connection.
func (l *link) introduced(err error) {
	if l.first != nil {
		l.first <- err
		l.first = nil
	}
}

// after sees to it that what is waited for has not come in time.
func (l *link) after(t time.Duration) {
	attempt := l.attempt
	time.AfterFunc(t, func() { l.tell(&timeout{attempt}) })
}

func (l *link) timeout(t *timeout) {
	switch {
	case t.attempt != l.attempt:
	case l.state == greeting:
		l.drop()
		l.failed(fmt.Errorf("%w: it does not answer", wire.ErrLost))
	case l.state == leaving:
		l.hangUp()
	}
}

// drop ends the connection, if there is one.
func (l *link) drop() {
	l.attempt++
	if l.conn != nil {
		l.conn.Close()
		l.conn, l.peer = nil, nil
	}
}

// closed begins to connect again.
func (l *link) closed(m *wire.Closed) {
	if !m.Client.Equal(l.peer) {
		l.dead = m.Client
		return
	}
	l.conn, l.peer = nil, nil
	err := m.Err
	if err == nil {
		err = wire.ErrEnded
	}
	switch l.state {
	case greeting:
		l.failed(err)
	case ready:
		l.options.Log.Warn().Err(err).Str("engine", l.options.address).Msg("the connection to the engine has ended")
		l.broken()
		l.redial(err)
	case leaving:
		l.hangUp()
	}
}

// redial connects again after one connection: at once, unless that was short. What ends each
// connection by what is sent again over the next is no reason to hurry.
func (l *link) redial(err error) {
	if l.heard {
		l.lost, l.delay = time.Now(), min(l.delay, lastHeard)
	}
	if time.Since(l.begun) < lasting || final(err) {
		l.failed(err)
		return
	}
	l.lost, l.delay = time.Now(), firstDelay
	l.dial()
}

// broken takes note that what is open has no connection.
func (l *link) broken() {
	for _, k := range l.calls.open {
		if k.dropped != nil {
			k.finish(nil, k.dropped)
		}
	}
	l.detach()
}
