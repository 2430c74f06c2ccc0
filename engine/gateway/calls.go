package gateway

import (
	"context"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/cbactor/cbactor/engine/internal/convert"
	"github.com/cbactor/cbactor/messages"
)

// call is one of a guest's: under way, or answered.
type call struct {
	number uint64
	job    job
	lane   *lane // nil: it waits for no other one
	cost   usage
	ctx    context.Context // ends by Drop, and with what the call has opened
	cancel context.CancelFunc
	kept   bool // what the call has opened has ctx, and ends it

	dropped bool            // nobody waits for it
	reply   *messages.Reply // nil: it is under way
	bytes   int             // of it
	request *request        // that it asks for; nil: it is another one
}

// call obeys a call, once.
func (g *guest) call(m *messages.Call) {
	g.settle(min(m.GetSettled(), m.GetNumber()))
	if hello := m.GetHello(); hello != nil || !g.greeted {
		g.hello(m.GetNumber(), hello)
		return
	}
	g.heir = false
	if m.GetNumber() < g.settled {
		return // its answer is known to the client
	}
	if c := g.calls[m.GetNumber()]; c != nil {
		if c.reply != nil {
			g.answerAgain(c)
		}
		return
	}
	c := &call{number: m.GetNumber(), cost: g.costOf(m)}
	if err := g.admit(c.cost); err != nil {
		g.tell(&messages.Reply{Number: c.number, Error: convert.Error(err)})
		return
	}
	g.calls[c.number] = c
	g.asked.add(c.cost)
	c.ctx, c.cancel = context.WithCancel(g.life)
	if err := g.dispatch(c, m); err != nil {
		g.answer(c, nil, err)
	}
}

// settle forgets the answers of calls below n, which the client has.
func (g *guest) settle(n uint64) {
	if n <= g.settled {
		return
	}
	if n-g.settled > uint64(len(g.calls)) {
		for number := range g.calls {
			if number < n {
				g.forgetAnswer(number)
			}
		}
	} else {
		for number := g.settled; number < n; number++ {
			g.forgetAnswer(number)
		}
	}
	g.settled = n
}

// forgetAnswer forgets a call, if it is answered.
func (g *guest) forgetAnswer(number uint64) {
	if c := g.calls[number]; c != nil && c.reply != nil {
		delete(g.calls, number)
		g.answers -= c.bytes
	}
}

// drop ends the wait of a call. What several calls wait for goes on as long as one does.
func (g *guest) drop(m *messages.Drop) {
	c := g.calls[m.GetNumber()]
	if c == nil || c.reply != nil {
		return
	}
	c.dropped = true
	switch r := c.request; {
	case r == nil:
		c.cancel()
	case !slices.ContainsFunc(r.calls, func(c *call) bool { return !c.dropped }):
		r.cancel()
	}
}

// answer ends a call.
func (g *guest) answer(c *call, reply *messages.Reply, err error) {
	if reply == nil {
		reply = new(messages.Reply)
	}
	reply.Number, reply.Error = c.number, convert.Error(err)
	size := proto.Size(reply)
	if size > maxMessage {
		reply = &messages.Reply{Number: c.number, Error: convert.Error(fmt.Errorf("%w: the answer has %d bytes, there may be %d", convert.ErrLimit, size, maxMessage))}
		size = proto.Size(reply)
	}
	c.reply, c.bytes, c.job = reply, size, job{}
	g.asked.take(c.cost)
	g.answers += size
	if c.number < g.settled {
		g.forgetAnswer(c.number)
	}
	if !c.kept {
		c.cancel()
	}
	g.tell(reply)
}

// answerAgain sends an answer over a connection that may not have had it.
func (g *guest) answerAgain(c *call) {
	g.tell(c.reply)
	if c.request != nil && c.reply.GetError() == nil {
		g.attachAll(c.request)
	}
}
