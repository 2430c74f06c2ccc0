package wire_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"

	"github.com/cbactor/cbactor/internal/wire"
	"github.com/cbactor/cbactor/messages"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	toEngine = []proto.Message{&messages.Call{}, &messages.Drop{}, &messages.Ack{}}
	toClient = []proto.Message{&messages.Reply{}, &messages.News{}, &messages.Lost{}}
)

func newSystem(t testing.TB) *actor.ActorSystem {
	s := actor.NewActorSystem(
		actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }),
		actor.WithDeadLetterThrottleInterval(time.Millisecond))
	t.Cleanup(s.Shutdown)
	return s
}

// inbox is an actor whose messages a test reads.
type inbox struct {
	t    testing.TB
	pid  *actor.PID
	came chan any
}

// spawn makes an actor that hands on what receive does not handle; nil: everything.
func spawn(t testing.TB, s *actor.ActorSystem, receive func(actor.Context) bool) *inbox {
	b := &inbox{t: t, came: make(chan any, 1<<12)}
	b.pid = s.Root.Spawn(actor.PropsFromFunc(func(c actor.Context) {
		switch m := c.Message().(type) {
		case proto.Message, *wire.Opened, *wire.Written, *wire.Closed:
			if receive == nil || !receive(c) {
				b.came <- m
			}
		}
	}))
	t.Cleanup(func() {
		if err := s.Root.StopFuture(b.pid).Wait(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// next is the next message, which must be a T.
func next[T any](b *inbox) T {
	b.t.Helper()
	select {
	case m := <-b.came:
		got, ok := m.(T)
		if !ok {
			b.t.Fatalf("received %T %v, want a %T", m, m, got)
		}
		return got
	case <-time.After(20 * time.Second):
		b.t.Fatal("nothing is received")
		panic("unreachable")
	}
}

// answer is an engine that answers each Call at once, with its number.
func answer(c actor.Context) bool {
	if m, ok := c.Message().(*messages.Call); ok {
		c.Respond(&messages.Reply{Number: m.Number})
		return true
	}
	return false
}

type server struct {
	*wire.Server
	system  *actor.ActorSystem
	engine  *inbox
	clients *actor.ActorSystem // of all of them
}

func serve(t testing.TB, receive func(actor.Context) bool, change ...func(*wire.ServerOptions)) *server {
	s := &server{system: newSystem(t), clients: newSystem(t)}
	s.engine = spawn(t, s.system, receive)
	o := wire.ServerOptions{Listen: "127.0.0.1:0", Name: "run-1", Inbound: toEngine,
		Accept: func(wire.Peer) (*actor.PID, error) { return s.engine.pid, nil }}
	for _, f := range change {
		f(&o)
	}
	var err error
	if s.Server, err = wire.Serve(s.system, o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

type client struct {
	*wire.Conn
	system *actor.ActorSystem
	owner  *inbox
}

var clients atomic.Int64

func (s *server) options() wire.ClientOptions {
	return wire.ClientOptions{Address: s.Addr().String(), ID: fmt.Sprintf("client-%016d", clients.Add(1)), Inbound: toClient}
}

func (s *server) dial(t testing.TB, o wire.ClientOptions) *client {
	t.Helper()
	c := &client{system: s.clients}
	c.owner = spawn(t, c.system, nil)
	o.Owner = c.owner.pid
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	var err error
	if c.Conn, err = wire.Dial(ctx, c.system, o); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *client) send(m proto.Message) { c.system.Root.Send(c.Engine(), m) }

// ended is why the connection has ended, when it has.
func (c *client) ended() error {
	c.owner.t.Helper()
	return next[*wire.Closed](c.owner).Err
}

// counts waits until a number of the server's is so large: that is counted beside what actors
// are told.
func (s *server) counts(t testing.TB, want int64, number func(wire.Stats) int64) {
	t.Helper()
	got := number(s.Stats())
	for deadline := time.Now().Add(time.Minute); got != want && time.Now().Before(deadline); got = number(s.Stats()) {
		time.Sleep(time.Millisecond)
	}
	if got != want {
		t.Errorf("%d connections are counted, want %d", got, want)
	}
}

func TestRoundTrip(t *testing.T) {
	s := serve(t, answer)
	c := s.dial(t, s.options())
	if c.Name() != "run-1" {
		t.Errorf("the engine's name is %q", c.Name())
	}
	opened := next[*wire.Opened](s.engine)
	for i := range uint64(3) {
		c.send(&messages.Call{Number: i})
		if r := next[*messages.Reply](c.owner); r.Number != i {
			t.Errorf("answer %d to call %d", r.Number, i)
		}
	}
	c.send(&messages.Ack{})
	c.Close()
	if err := c.ended(); err != nil {
		t.Errorf("closed with %v", err)
	}
	next[*messages.Ack](s.engine) // what was sent before the end arrives
	closed := next[*wire.Closed](s.engine)
	if closed.Err != nil || closed.Client != opened.Client {
		t.Errorf("closed %v with %v, opened %v", closed.Client, closed.Err, opened.Client)
	}
}
