package gateway

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/cbactor/cbactor/engine/internal/convert"
	"github.com/cbactor/cbactor/messages"
)

// hello begins what is said over a connection, or ends it: m is nil where something else came
// first. It is answered each time.
func (g *guest) hello(number uint64, m *messages.Hello) {
	welcome := g.welcome
	if g.heir {
		welcome = proto.CloneOf(welcome)
		welcome.Forgotten = true
	}
	reply := &messages.Reply{Number: number, What: &messages.Reply_Welcome{Welcome: welcome}}
	switch {
	case m == nil:
		reply.Error = convert.Error(fmt.Errorf("%w: begin each connection with Hello", convert.ErrProtocol))
	case m.GetProtocol() != convert.Protocol:
		reply.Error = convert.Error(fmt.Errorf("%w: it is %d here, not %d", convert.ErrProtocol, convert.Protocol, m.GetProtocol()))
	}
	g.tell(reply)
	if reply.Error != nil {
		g.hangUp()
		return
	}
	g.greeted = true
	for _, h := range g.holds {
		g.tellLost(h)
	}
}

// goodbye ends the guest.
func (g *guest) goodbye(c *call) {
	g.answer(c, nil, nil)
	g.hangUp()
	g.left(g.id, g.entry, true)
	g.end()
	g.gone = true
}

// maxMessage bounds a message to a client: less than what a connection takes.
const maxMessage = 4<<20 - 4<<10
