package gateway

import (
	"github.com/cbactor/cbactor/internal/wire"
)

// Bounds of the bytes of News that wait to be written: the connection of a client that reads slowly
// would be cut, beyond what it holds.
const (
	maxUnwritten = 4 << 20
	markEach     = 256 << 10 // after so many the connection is to say that they are written
)

// pace is what a connection has to write of News.
type pace struct {
	unwritten int // bytes
	unmarked  int // of them, those behind the last mark
	blocked   []*sequence
}

// room tells whether more may be told of a sequence now; if not, it will be as soon as there is.
func (g *guest) room(q *sequence) bool {
	if g.pace.unwritten < maxUnwritten {
		return true
	}
	if !q.blocked {
		q.blocked = true
		g.pace.blocked = append(g.pace.blocked, q)
	}
	return false
}

// wrote counts News that were handed to the connection.
func (g *guest) wrote(bytes int) {
	p := &g.pace
	p.unwritten, p.unmarked = p.unwritten+bytes, p.unmarked+bytes
	if p.unmarked >= markEach {
		g.system.Root.Send(g.client, &wire.Written{Client: g.client, Bytes: p.unmarked})
		p.unmarked = 0
	}
}

// written goes on with those that have waited.
func (g *guest) written(m *wire.Written) {
	if g.client == nil || !g.client.Equal(m.Client) {
		return // of a connection before
	}
	p := &g.pace
	p.unwritten -= m.Bytes
	for len(p.blocked) > 0 && p.unwritten < maxUnwritten {
		q := p.blocked[0]
		p.blocked[0], p.blocked = nil, p.blocked[1:]
		q.blocked = false
		if g.streams[q.number] == q {
			g.advance(q)
		}
	}
}

// unblock forgets what a connection that has ended had to write.
func (g *guest) unblock() {
	for _, q := range g.pace.blocked {
		q.blocked = false
	}
	g.pace = pace{}
}
