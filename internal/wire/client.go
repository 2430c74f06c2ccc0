package wire

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"

	"github.com/asynkron/protoactor-go/actor"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"
)

// ClientOptions say whom to connect to and who one is.
type ClientOptions struct {
	Address string      // host:port
	TLS     *tls.Config // nil: to loopback alone
	ID      string      // 16 to 64 letters, digits and hyphens

	Owner   *actor.PID      // is sent what comes, and Closed
	Inbound []proto.Message // one of each type that may come
	Limits  Limits
}

// Conn is a client's connection to an engine. It cannot be made again: that takes another
// Dial.
type Conn struct {
	*connection
	name string
	grpc *grpc.ClientConn
}

// Dial connects. ctx bounds how long that takes. The errors are ErrInsecure, ErrUntrusted,
// ErrRefused and ErrProtocol, where trying again does not help, and others, where it may.
func Dial(ctx context.Context, system *actor.ActorSystem, o ClientOptions) (*Conn, error) {
	if !idForm.MatchString(o.ID) {
		return nil, fmt.Errorf("%w: the id %q is not 16 to 64 letters, digits and hyphens", ErrRefused, o.ID)
	}
	tcp, err := dial(ctx, o.Address, o.TLS)
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", o.Address, err)
	}
	c, err := open(ctx, system, tcp, o)
	if err != nil {
		// gRPC has closed it, or never had it; then what closing says is of no use.
		_ = tcp.Close()
		return nil, fmt.Errorf("connecting to %s: %w", o.Address, err)
	}
	go c.converse()
	return c, nil
}

// open makes a stream of a connection, and says who the client is.
func open(ctx context.Context, system *actor.ActorSystem, tcp *clientConn, o ClientOptions) (*Conn, error) {
	o.Limits = o.Limits.filled()
	cc, err := grpc.NewClient("passthrough:///"+o.Address, o.grpc(tcp)...)
	if err != nil {
		return nil, err
	}
	whole, cancel := context.WithCancel(context.Background()) // as long as the stream
	late := context.AfterFunc(ctx, cancel)
	c, err := greet(whole, system, cc, o)
	if !late() {
		err = context.Cause(ctx)
	}
	if err == nil {
		c.abort = cancel
		err = c.join(o.Owner, c.name)
	}
	if err != nil {
		cancel()
		return nil, errors.Join(err, cc.Close())
	}
	return c, nil
}

func greet(ctx context.Context, system *actor.ActorSystem, cc *grpc.ClientConn, o ClientOptions) (*Conn, error) {
	s, err := cc.NewStream(ctx, &receiveStream, receiveMethod, grpc.ForceCodecV2(codec{}))
	if err != nil {
		return nil, fromStatus(err)
	}
	c := &Conn{connection: newConnection(system, s, o.Limits), grpc: cc}
	if err := s.SendMsg(mem.BufferSlice{mem.SliceBuffer(connectRequest(o.ID))}); err != nil && !errors.Is(err, io.EOF) {
		return nil, fromStatus(err)
	} // io.EOF: what is received says why
	kind, body, free, err := c.receive()
	if err != nil {
		return nil, err
	}
	defer free()
	if kind != frameConnected {
		return nil, forbidden("an answer that is no ConnectResponse")
	}
	name, blocked, err := parseConnected(body)
	if err != nil {
		return nil, err
	}
	if blocked {
		return nil, ErrRefused
	}
	c.name, c.hangUp = name, s.CloseSend
	c.guard.types, c.guard.peer, c.guard.target = typesByName(o.Inbound), name, address{o.ID, clientName}
	c.out.target = encodedTarget(address{name, engineName})
	return c, nil
}

func (o *ClientOptions) grpc(tcp *clientConn) []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithContextDialer(tcp.once),
		grpc.WithTransportCredentials(insecure.NewCredentials()), // TLS is spoken below
		grpc.WithIdleTimeout(0),
		grpc.WithDisableRetry(),
		grpc.WithDisableServiceConfig(),
		grpc.WithMaxHeaderListSize(maxHeader),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(o.Limits.Message+frameMargin), grpc.MaxCallSendMsgSize(o.Limits.Message+frameMargin)),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: probeAfter, Timeout: probeTime, PermitWithoutStream: true}),
	}
}

// converse is the connection from its greeting to its end.
func (c *Conn) converse() {
	go c.write()
	err := c.read()
	if errors.Is(err, io.EOF) { // the answer to hanging up, or the engine has done so
		if err = nil; !c.ending.Load() {
			err = ErrEnded
		}
	}
	c.end(err)
	<-c.written
	if err := c.grpc.Close(); err != nil {
		c.system.Logger().Debug("closing a connection", "error", err)
	}
	c.leave()
}

// Engine is the PID of the engine, over this connection alone.
func (c *Conn) Engine() *actor.PID { return c.pid }

// Name is what the engine is called.
func (c *Conn) Name() string { return c.name }

// Close begins to end the connection, behind what was sent before: within a second. Closed tells
// that it has ended.
func (c *Conn) Close() { c.finish(nil) }
