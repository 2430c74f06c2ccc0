package gateway

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"sync"

	"github.com/asynkron/protoactor-go/actor"
	"google.golang.org/protobuf/proto"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/internal/convert"
	"github.com/cbactor/cbactor/engine/texts"
	"github.com/cbactor/cbactor/internal/obs"
	"github.com/cbactor/cbactor/internal/wire"
	"github.com/cbactor/cbactor/messages"
)

// Gateway serves guests.
type Gateway struct {
	engine  engine.API
	texts   texts.Service
	words   bool   // texts has a tokenizer
	seed    uint64 // of the engine
	vocab   int    // likewise
	context int    // tokens of a request, likewise
	options Options
	welcome *messages.Welcome
	system  *actor.ActorSystem
	server  *wire.Server

	life    context.Context // ends with Close
	end     context.CancelFunc
	running sync.WaitGroup // goroutines of guests

	all account // of all guests

	mu       sync.Mutex
	guests   map[string]*entry
	accounts map[string]*account // by identity, of those with guests
	graves   graves
	count    uint64 // guests so far
	closed   bool
}

// entry is a guest as connections find it.
type entry struct {
	pid      *actor.PID
	identity string
	account  *account
	prefix   string // of the names that the engine has for its requests
	coming   int    // connections that it has not heard of yet
}

// New listens, and serves from then on. service encodes prompts and makes text; nil: the
// model has no tokenizer, and clients give ids. The errors are those of listening and
// wire.ErrInsecure.
func New(e engine.API, service texts.Service, o Options) (*Gateway, error) {
	if o.Kept == 0 {
		o.Kept = DefaultKept
	}
	if o.Name == "" {
		o.Name = rand.Text()
	}
	o.Limits = o.Limits.filled()
	configuration := e.Info()
	info, err := convert.Info(configuration)
	if err != nil {
		return nil, err
	}
	g := &Gateway{engine: e, texts: service, words: service != nil, seed: configuration.Seed, vocab: configuration.Vocab, context: configuration.MaxContext, options: o, guests: map[string]*entry{}, accounts: map[string]*account{},
		welcome: &messages.Welcome{Protocol: convert.Protocol, Engine: o.Name, Info: info, Text: service != nil, KeptMs: uint64(o.Kept.Milliseconds()),
			MaxOpen: uint32(o.Limits.Sequences), MaxChunk: uint32(o.Limits.Chunk), MaxInFlight: uint32(o.Limits.Chunks),
			RecommendedEnds: o.Ends, Recommended: o.Recommended},
		system: obs.System(o.Log)}
	if service == nil {
		g.texts = texts.New(e, nil)
	}
	g.life, g.end = context.WithCancel(context.Background())
	g.server, err = wire.Serve(g.system, wire.ServerOptions{Listen: o.Listen, TLS: o.TLS, Name: o.Name, Accept: g.accept,
		Inbound: []proto.Message{(*messages.Call)(nil), (*messages.Drop)(nil), (*messages.Ack)(nil)}, Log: o.Log})
	if err != nil {
		g.end()
		g.system.Shutdown()
		return nil, err
	}
	return g, nil
}

// Addr is where the gateway listens.
func (g *Gateway) Addr() net.Addr { return g.server.Addr() }

// Name names this run of the engine.
func (g *Gateway) Name() string { return g.options.Name }

// Close ends all connections and guests, and what they have open. It returns when nothing
// of it is left: the engine's calls under way end with their contexts.
func (g *Gateway) Close() {
	g.mu.Lock()
	if g.closed {
		g.mu.Unlock()
		return
	}
	g.closed = true
	g.mu.Unlock()
	g.server.Close()
	g.end()
	g.mu.Lock()
	guests := g.guests
	g.guests = nil
	g.mu.Unlock()
	var ends []*actor.Future
	for _, e := range guests {
		ends = append(ends, g.system.Root.StopFuture(e.pid))
	}
	for _, f := range ends {
		if err := f.Wait(); err != nil && !errors.Is(err, actor.ErrDeadLetter) { // one that has ended by itself
			g.options.Log.Error().Err(err).Msg("ending a guest")
		}
	}
	g.running.Wait()
	g.system.Shutdown()
}

// errIdentity refuses who takes another client's id.
var errIdentity = fmt.Errorf("%w: the id is another client's", wire.ErrRefused)

// accept finds or makes the guest of a connection.
func (g *Gateway) accept(p wire.Peer) (*actor.PID, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil, engine.ErrClosed
	}
	e := g.guests[p.ID]
	switch {
	case e != nil && e.identity != p.Identity:
		return nil, errIdentity
	case e == nil && len(g.guests) >= g.options.Limits.Guests:
		return nil, fmt.Errorf("%w: %d clients are here: try again later", convert.ErrLimit, len(g.guests))
	case e == nil && p.Identity != "" && g.account(p.Identity).guests >= g.options.Limits.IdentityGuests:
		return nil, fmt.Errorf("%w: %d clients with this certificate are here: try again later", convert.ErrLimit, g.account(p.Identity).guests)
	case e == nil:
		g.count++
		e = &entry{identity: p.Identity, account: g.account(p.Identity), prefix: fmt.Sprintf("client%d:", g.count)}
		e.account.guests++
		guest := newGuest(g, e, p.ID)
		guest.heir = g.graves.visit(grave{p.Identity, p.ID})
		e.pid = g.system.Root.SpawnPrefix(actor.PropsFromProducer(func() actor.Actor { return guest }, actor.WithGuardian(ended)), "guest")
		g.guests[p.ID] = e
	}
	e.coming++
	return e.pid, nil
}

// ended lets an actor that panics end, and with it what it has: nobody knows any more what
// that is.
var ended = actor.NewOneForOneStrategy(0, 0, func(any) actor.Directive { return actor.StopDirective })

// came notes that a guest has heard of a connection.
func (g *Gateway) came(e *entry) {
	g.mu.Lock()
	defer g.mu.Unlock()
	e.coming--
}

// leave lets a guest go, unless a connection to it is on its way. Another one may have its
// id from then on. poor: it has nothing that its client could miss.
func (g *Gateway) leave(id string, e *entry, poor bool) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if e.coming > 0 {
		return false
	}
	g.forget(id, e, poor)
	return true
}

// left forgets a guest that has ended.
func (g *Gateway) left(id string, e *entry, poor bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.forget(id, e, poor)
}

func (g *Gateway) forget(id string, e *entry, poor bool) {
	if g.guests[id] != e {
		return
	}
	delete(g.guests, id)
	if e.account.guests--; e.account.guests == 0 {
		delete(g.accounts, e.identity)
	}
	if !poor {
		g.graves.add(grave{e.identity, id})
	}
}
