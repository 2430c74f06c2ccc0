package wire

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/rs/zerolog"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// ServerOptions say where a Server listens and whom it lets in.
type ServerOptions struct {
	Listen string      // host:port; port 0: a free one
	TLS    *tls.Config // nil: on loopback alone
	Name   string      // told to clients

	// Accept says which actor is sent what a client sends, or why it is not let in, for good
	// (ErrRefused) or now: the client is told the text. It runs on a goroutine of the
	// connection, and may block for a while.
	Accept  func(Peer) (*actor.PID, error)
	Inbound []proto.Message // one of each type that clients may send

	Limits Limits
	Probe  time.Duration // a client that is silent for so long is probed; 0: 10 s
	Log    zerolog.Logger
}

// Peer is a client that wants to connect.
type Peer struct {
	ID       string // chosen by the client: 16 to 64 letters, digits and hyphens
	Address  string // host:port that it connects from
	Identity string // SHA-256 of its certificate's public key, in hexadecimal; "": without TLS
}

// Short is the beginning of a client's id, for logs: who knows a whole one, and is let in, may take
// that client's place where there is no other identity.
func Short(id string) string { return id[:min(len(id), 6)] + "…" }

// Server listens for clients.
type Server struct {
	system   *actor.ActorSystem
	options  ServerOptions
	types    map[string]protoreflect.MessageType
	listener *listener
	grpc     *grpc.Server
	log      zerolog.Logger // of what clients do wrong: not more than a little
	stats    struct{ accepted, refused, forbidden, slow atomic.Int64 }

	mu      sync.Mutex
	open    map[*connection]struct{}
	closing bool
	running sync.WaitGroup
}

// Stats counts connections since the start, but for Open.
type Stats struct {
	Open      int   // now
	Accepted  int64 // by Accept
	Refused   int64 // by Accept
	Forbidden int64 // ended since they sent what is not allowed
	Slow      int64 // ended since they did not read
}

// Check tells early, before what is slow, whether Serve could listen now. The errors are its.
func Check(address string, config *tls.Config) error {
	l, err := listen(address, config)
	if err != nil {
		return fmt.Errorf("listening on %s: %w", address, err)
	}
	return l.Close()
}

// Serve listens until the Server is closed. The errors are ErrInsecure and those of listening.
func Serve(system *actor.ActorSystem, o ServerOptions) (*Server, error) {
	raw, err := listen(o.Listen, o.TLS)
	if err != nil {
		return nil, fmt.Errorf("listening on %s: %w", o.Listen, err)
	}
	o.Limits = o.Limits.filled()
	s := &Server{
		system:   system,
		options:  o,
		types:    typesByName(o.Inbound),
		listener: &listener{Listener: raw, limit: o.Limits.Connections, clients: map[string]*counted{}},
		log:      o.Log.Sample(&zerolog.BurstSampler{Burst: 10, Period: time.Second}),
		open:     map[*connection]struct{}{},
	}
	s.grpc = grpc.NewServer(o.grpc()...)
	s.grpc.RegisterService(&remoting, s)
	s.running.Go(func() {
		if err := s.grpc.Serve(s.listener); err != nil {
			o.Log.Error().Err(err).Msg("listening for clients has ended")
		}
	})
	return s, nil
}

func (o *ServerOptions) grpc() []grpc.ServerOption {
	options := []grpc.ServerOption{
		grpc.ForceServerCodecV2(codec{}),
		grpc.MaxRecvMsgSize(o.Limits.Message + frameMargin),
		grpc.MaxConcurrentStreams(1),
		grpc.WaitForHandlers(true),
		grpc.MaxHeaderListSize(maxHeader),
		grpc.ConnectionTimeout(greetingTime),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: probeFloor, PermitWithoutStream: true}),
		grpc.KeepaliveParams(keepalive.ServerParameters{
			MaxConnectionIdle: 2 * greetingTime, // without a stream
			Time:              cmp.Or(o.Probe, probeAfter),
			Timeout:           min(cmp.Or(o.Probe, probeAfter)/2, probeTime),
		}),
	}
	if o.TLS != nil {
		options = append(options, grpc.Creds(credentials.NewTLS(o.TLS)))
	}
	return options
}

// Addr is where the server listens.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// Stats tells how many connections there are and were.
func (s *Server) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Stats{
		Open:      len(s.open),
		Accepted:  s.stats.accepted.Load(),
		Refused:   s.stats.refused.Load(),
		Forbidden: s.stats.forbidden.Load(),
		Slow:      s.stats.slow.Load(),
	}
}

// Close lets nobody in any more, and ends every connection when what waits has been written,
// or after a second. All have ended when it returns: each actor was sent Closed.
func (s *Server) Close() {
	s.mu.Lock()
	s.closing = true
	open := make([]*connection, 0, len(s.open))
	for c := range s.open {
		open = append(open, c)
		c.finish(ErrEnded)
	}
	s.mu.Unlock()
	for _, c := range open {
		<-c.ended
	}
	cut := time.AfterFunc(closingTime, s.grpc.Stop)
	defer cut.Stop()
	s.grpc.GracefulStop() // clients hear why, if they read
	s.running.Wait()
}

// receive serves a stream: it returns when the connection has ended, which ends the stream.
func (s *Server) receive(gs grpc.ServerStream) error {
	c := newConnection(s.system, gs, s.options.Limits)
	c.stopped = ErrEnded
	peer := Peer{Address: addressOf(gs.Context()), Identity: identity(gs.Context())}
	if !s.enter(c) {
		return toStatus(ErrEnded)
	}
	greeted := time.AfterFunc(greetingTime, func() { c.end(forbidden("nothing was said in %v", greetingTime)) })
	go s.converse(c, peer, greeted.Stop)
	<-c.ended
	greeted.Stop()
	s.count(c.err, peer)
	return toStatus(c.err)
}

// converse is a connection from its first frame to its last.
func (s *Server) converse(c *connection, peer Peer, greeted func() bool) {
	defer s.leave(c)
	if err := s.greet(c, &peer); err != nil {
		c.end(err)
		return
	}
	greeted()
	log := s.options.Log.With().Str("client", Short(peer.ID)).Str("address", peer.Address).Logger()
	log.Info().Str("identity", peer.Identity).Msg("a client has connected")
	go c.write()
	if err := c.read(); errors.Is(err, io.EOF) {
		c.finish(nil)
	} else {
		c.end(err)
	}
	<-c.ended
	<-c.written
	c.leave()
	log.Info().Err(c.err).Msg("a client's connection has ended")
}

// greet reads who the client is and answers.
func (s *Server) greet(c *connection, peer *Peer) error {
	kind, body, free, err := c.receive()
	if err != nil {
		return err
	}
	defer free()
	if kind != frameConnect {
		return forbidden("a connection that begins with something else than a request for it")
	}
	if peer.ID, err = parseConnect(body); err != nil {
		return err
	}
	if !s.listener.greeted(peer.Address) {
		return fmt.Errorf("%w: %d are connected: try again later", ErrBusy, s.options.Limits.Connections)
	}
	owner, err := s.accept(*peer)
	if err != nil {
		return err
	}
	s.stats.accepted.Add(1)
	c.guard.types, c.guard.peer, c.guard.target = s.types, peer.ID, address{s.options.Name, engineName}
	c.out.target = encodedTarget(address{peer.ID, clientName})
	c.out.putFrame(connectResponse(s.options.Name))
	if err := c.join(owner, peer.ID); err != nil {
		return err
	}
	s.system.Root.Send(owner, &Opened{Client: c.pid})
	return nil
}

// accept asks whether a client may come in. A panic there costs only that client its connection.
func (s *Server) accept(peer Peer) (owner *actor.PID, err error) {
	defer func() {
		if r := recover(); r != nil {
			s.options.Log.Error().Any("panic", r).Msg("accepting a client has failed")
			err = fmt.Errorf("%w: a panic", ErrEnded)
		}
	}()
	if owner, err = s.options.Accept(peer); err != nil && !errors.Is(err, ErrRefused) {
		err = fmt.Errorf("%w: %w", ErrBusy, err)
	}
	return owner, err
}

func (s *Server) enter(c *connection) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return false
	}
	s.open[c] = struct{}{}
	s.running.Add(1)
	return true
}

func (s *Server) leave(c *connection) {
	defer s.running.Done()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, c)
}

// count notes what became of a connection.
func (s *Server) count(err error, peer Peer) {
	switch {
	case errors.Is(err, ErrProtocol):
		s.stats.forbidden.Add(1)
	case errors.Is(err, ErrSlow):
		s.stats.slow.Add(1)
	case errors.Is(err, ErrRefused), errors.Is(err, ErrBusy):
		s.stats.refused.Add(1)
	default:
		return
	}
	s.log.Warn().Err(err).Str("client", peer.Address).Msg("a connection is refused or cut")
}
