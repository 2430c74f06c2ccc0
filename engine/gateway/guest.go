package gateway

import (
	"context"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/rs/zerolog"
	"google.golang.org/protobuf/proto"

	"github.com/cbactor/cbactor/internal/wire"
	"github.com/cbactor/cbactor/messages"
)

// guest is a client, over all its connections.
type guest struct {
	*Gateway
	entry *entry
	id    string
	told  int64 // bytes that accounts know of
	log   zerolog.Logger
	self  *actor.PID
	life  context.Context // ends with the guest: all that it has open does, too
	end   context.CancelFunc

	client  *actor.PID // of the connection that there is; nil: there is none
	closing *actor.PID // of one that the guest has ended, which goes on until it is written; nil: none
	gone    bool       // the guest has ended, but for that
	heir    bool       // of one that was given up: the client is told until it calls
	greeted bool       // it has begun with Hello
	absence *time.Timer
	absent  int // absences so far

	calls   map[uint64]*call
	settled uint64 // calls below are forgotten
	asked   usage  // of calls under way
	answers int    // bytes of answers that are kept

	streams   map[uint64]*sequence
	unread    int // bytes of what is here of them
	pace      pace
	names     map[string]*sequence // by the ids of requests and their sequences
	requests  map[string]*request  // by id, those that are not accepted yet, too
	unnamed   uint64               // requests without an id so far
	pending   int                  // sequences of requests that are not accepted yet
	numbers   uint64               // given to sequences, holds and updates so far
	flushes   []*flush
	drains    []*actor.PID // who waits until all is read
	holds     map[uint64]*hold
	pausing   int      // pauses under way
	lostHolds []uint64 // of holds, those that were lost, the oldest first
	updates   map[uint64]*update
	updating  int       // parts of manifests that are read, and updates that are opened
	manifest  *manifest // of an update that begins, in part; nil: none
	manifests lane      // of calls with parts
	adapters  map[string]*folder
	fileBytes int64 // of all of them
}

func newGuest(g *Gateway, e *entry, id string) *guest {
	return &guest{Gateway: g, entry: e, id: id, log: g.options.Log.With().Str("client", wire.Short(id)).Logger(),
		calls: map[uint64]*call{}, streams: map[uint64]*sequence{}, names: map[string]*sequence{}, requests: map[string]*request{},
		holds: map[uint64]*hold{}, updates: map[uint64]*update{}, adapters: map[string]*folder{}}
}

// expired says that an absence was too long.
type expired struct{ absence int }

// Receive implements actor.Actor.
func (g *guest) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *actor.Started:
		g.self = c.Self()
		g.life, g.end = context.WithCancel(g.Gateway.life)
	case *actor.Stopping:
		g.tellBytes(-g.told)
		g.left(g.id, g.entry, g.poor())
		g.end()
		g.stopTimer()
	case *wire.Opened:
		g.open(m.Client)
	case *wire.Closed:
		g.closed(m.Client)
	case *expired:
		if m.absence == g.absent && g.client == nil && !g.gone {
			g.expire()
		}
	case *answered:
		g.answered(m)
	case *arrived:
		g.arrived(m)
	case *wire.Written:
		g.written(m)
	case *drained:
		g.drained(m.sequence, m.ticket)
	case *drain:
		g.drains = append(g.drains, c.Sender())
		g.settleDrains()
	case *holdEnded:
		g.holdEnded(m.hold)
	default:
		if g.client != nil && c.Sender() != nil && c.Sender().Equal(g.client) {
			g.hear(m)
		}
	}
}

// hear takes what the client sends over the connection that counts.
func (g *guest) hear(m any) {
	switch m := m.(type) {
	case *messages.Call:
		g.call(m)
	case *messages.Drop:
		g.drop(m)
	case *messages.Ack:
		for _, t := range m.GetTaken() {
			g.taken(t)
		}
		for _, n := range m.GetAnswers() {
			g.forgetAnswer(n)
		}
	}
}

// tell sends a message to the client, if it is there.
func (g *guest) tell(m proto.Message) {
	if g.client != nil {
		g.system.Root.Send(g.client, m)
	}
}

// open begins a connection, in the place of the one that there is.
func (g *guest) open(client *actor.PID) {
	g.came(g.entry)
	if g.gone {
		g.system.Root.Poison(client) // the next one finds another guest
		return
	}
	if g.client != nil {
		g.system.Root.Send(g.client, &wire.Replaced{})
		g.hangUp()
	}
	g.stopTimer()
	g.client, g.greeted = client, false
}

// hangUp ends the connection, behind what was sent over it.
func (g *guest) hangUp() {
	g.system.Root.Poison(g.client)
	g.closing = g.client
	g.detach()
}

// detach notes that nothing reaches the client over the connection that there was.
func (g *guest) detach() {
	g.client = nil
	for _, s := range g.streams {
		s.attached = false
	}
	g.unblock()
	g.settleDrains()
}

// closed notes that a connection has ended. A guest that has nothing goes with its last.
func (g *guest) closed(client *actor.PID) {
	switch {
	case g.client != nil && g.client.Equal(client):
		g.detach()
	case g.closing != nil && g.closing.Equal(client):
		g.closing = nil
	}
	if g.client != nil || g.absence != nil {
		return
	}
	if g.gone {
		g.system.Root.Stop(g.self)
		return
	}
	if g.poor() {
		g.expire()
		return
	}
	g.wait()
}

// poor tells that the guest has nothing that its client could miss, and that it needs not be
// told of: no call that was not answered has been obeyed.
func (g *guest) poor() bool {
	return !g.heir && len(g.calls)+len(g.streams)+len(g.holds)+len(g.updates)+len(g.adapters) == 0
}

// wait lets an absence begin.
func (g *guest) wait() {
	g.absent++
	self, root, m := g.self, g.system.Root, &expired{g.absent}
	g.absence = time.AfterFunc(g.options.Kept, func() { root.Send(self, m) })
}

func (g *guest) stopTimer() {
	if g.absence != nil {
		g.absence.Stop()
		g.absence = nil
	}
}

// expire ends the guest, unless its client is coming back right now.
func (g *guest) expire() {
	if !g.leave(g.id, g.entry, g.poor()) {
		g.wait()
		return
	}
	g.system.Root.Stop(g.self)
}
