package remote

import (
	"context"
	"errors"
	"math/rand/v2"
	"strconv"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/cbactor/cbactor/internal/wire"
	"github.com/cbactor/cbactor/messages"
)

// dial tries to connect.
func (l *link) dial() {
	l.state = dialling
	l.try()
}

// try makes a connection, on a goroutine.
func (l *link) try() {
	l.attempt++
	attempt, o := l.attempt, wire.ClientOptions{Address: l.options.address, TLS: l.options.TLS, ID: l.options.ID + "-" + strconv.Itoa(l.guest), Owner: l.self,
		Inbound: []proto.Message{&messages.Reply{}, &messages.News{}, &messages.Lost{}}, Limits: wire.Limits{Queue: queueBytes}}
	ctx, cancel := context.WithTimeout(context.Background(), min(dialTime, l.patience))
	l.stop = cancel
	go func() {
		defer cancel()
		conn, err := wire.Dial(ctx, l.system, o)
		l.tell(&dialled{attempt, conn, err})
	}()
}

// dialled greets the engine over a new connection.
func (l *link) dialled(d *dialled) {
	switch {
	case d.attempt != l.attempt || l.state != dialling && l.state != leaving:
		if d.err == nil {
			d.conn.Close()
		}
	case d.err == nil && !d.conn.Engine().Equal(l.dead):
		l.conn, l.peer = d.conn, d.conn.Engine()
		if l.state == dialling {
			l.state = greeting
		}
		l.hello()
	case l.state == leaving:
		l.hangUp()
	case d.err != nil:
		l.failed(d.err)
	default:
		l.failed(wire.ErrLost)
	}
}

// final are errors of connecting that trying again does not mend.
func final(err error) bool {
	for _, class := range []error{wire.ErrInsecure, wire.ErrUntrusted, wire.ErrRefused, wire.ErrReplaced, wire.ErrProtocol, ErrProtocol, ErrOther} {
		if errors.Is(err, class) {
			return true
		}
	}
	return false
}

// failed tries again later, unless that is in vain or it has taken too long.
func (l *link) failed(err error) {
	if l.first != nil || final(err) || time.Since(l.lost) >= l.patience {
		l.despair(err)
		return
	}
	l.state = dialling
	attempt := l.attempt
	wait := min(l.delay/2+rand.N(l.delay), time.Until(l.lost.Add(l.patience)))
	l.delay = min(2*l.delay, lastDelay)
	time.AfterFunc(wait, func() { l.tell(&again{attempt}) })
}

func (l *link) again(attempt int) {
	if l.state == dialling && attempt == l.attempt {
		l.dial()
	}
}
