package gateway_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/gateway"
	"github.com/cbactor/cbactor/engine/internal/convert"
	"github.com/cbactor/cbactor/engine/texts"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/internal/wire"
	"github.com/cbactor/cbactor/messages"
	"github.com/cbactor/cbactor/text"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long anything may take.
const patience = 30 * time.Second

// rig is an engine with a gateway.
type rig struct {
	*gateway.Gateway
	engine *engine.Engine
	model  *checkpoint.Checkpoint // nil: ECHO without one
	codec  *text.Codec
}

func serve(t testing.TB, cfg engine.Config, o gateway.Options) *rig {
	t.Helper()
	r := new(rig)
	var service texts.Service
	var err error
	if cfg.Executor == nil {
		if cfg.Checkpoint, err = checkpoint.Open(checkpoint.Embedded); err != nil {
			t.Fatal(err)
		}
		r.model = cfg.Checkpoint
		if r.codec, err = text.Load(r.model); err != nil {
			t.Fatal(err)
		}
	}
	if r.engine, err = engine.Spawn(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.engine.Close(); err != nil {
			t.Error(err)
		}
	})
	if r.codec != nil {
		service = texts.New(r.engine, r.codec)
	}
	if o.Listen == "" {
		o.Listen = "127.0.0.1:0"
	}
	if r.Gateway, err = gateway.New(r.engine, service, o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

func echo(t testing.TB, c executor.EchoConfig, o gateway.Options) *rig {
	t.Helper()
	if c.Blocks == 0 {
		c.Blocks = 256
	}
	return serve(t, engine.Config{Executor: executor.NewEcho(c)}, o)
}

// idle fails unless the engine has nothing to do in time, and all blocks are free.
func (r *rig) idle(t testing.TB) {
	t.Helper()
	var m engine.Metrics
	until(t, func() bool {
		m = r.engine.Metrics()
		return m.Open+m.InLine+m.Running+m.Waiting == 0 && m.BlocksFree == m.Blocks && m.Holders == 0
	}, func() string { return fmt.Sprintf("%+v", m) })
}

// until waits for something.
func until(t testing.TB, done func() bool, what func() string) {
	t.Helper()
	for end := time.Now().Add(patience); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it never comes: " + what())
		}
	}
}

// client speaks the protocol, over one connection after the other.
type client struct {
	t      testing.TB
	id     string
	rig    *rig
	system *actor.ActorSystem
	manual bool // acknowledges nothing by itself
	behind int  // tokens that it acknowledges later than it hears them

	mu      sync.Mutex
	came    sync.Cond
	conn    *wire.Conn
	closed  *wire.Closed // of the last connection
	number  uint64
	replies map[uint64][]*messages.Reply
	streams map[uint64]*heard
	lost    []*messages.Lost
}

// heard is what was told of a sequence.
type heard struct {
	ids      []int32
	drawn    []*messages.Drawn
	prompt   []*messages.Drawn
	text     string
	versions []engine.VersionSpan
	caches   []*messages.Span
	end      *messages.End
	news     int
	acked    int
}

// taken is the acknowledgement of what was heard, and tokens of it.
func (h *heard) taken(stream uint64, tokens int) *messages.Taken {
	return &messages.Taken{Stream: stream, Offset: uint32(tokens), Prompt: uint32(len(h.prompt)), Text: uint64(len(h.text)), Done: h.end != nil}
}

var clients atomic.Int64

func newClient(t testing.TB, r *rig) *client {
	t.Helper()
	c := &client{t: t, rig: r, id: fmt.Sprintf("client-%016d", clients.Add(1)), replies: map[uint64][]*messages.Reply{}, streams: map[uint64]*heard{}}
	c.came.L = &c.mu
	c.system = actor.NewActorSystem(
		actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }),
		actor.WithDeadLetterThrottleInterval(time.Millisecond))
	t.Cleanup(func() {
		c.cut()
		c.system.Shutdown()
	})
	return c
}

// join connects and says Hello.
func join(t testing.TB, r *rig) *client {
	t.Helper()
	c := newClient(t, r)
	c.hello()
	return c
}

// connect opens a connection.
func (c *client) connect() {
	c.t.Helper()
	if err := c.dial(c.rig.Addr().String()); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) dial(address string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	owner := c.system.Root.Spawn(actor.PropsFromFunc(c.receive))
	conn, err := wire.Dial(ctx, c.system, wire.ClientOptions{Address: address, ID: c.id, Owner: owner,
		Inbound: []proto.Message{&messages.Reply{}, &messages.News{}, &messages.Lost{}}})
	if err != nil {
		c.system.Root.Stop(owner)
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conn, c.closed = conn, nil
	return nil
}

// hello connects and begins.
func (c *client) hello() *messages.Welcome {
	c.t.Helper()
	c.connect()
	reply := c.do(&messages.Call{What: &messages.Call_Hello{Hello: &messages.Hello{Protocol: 1}}})
	return reply.GetWelcome()
}

// cut ends the connection, as a process does that ends.
func (c *client) cut() {
	c.mu.Lock()
	conn := c.conn
	c.mu.Unlock()
	if conn == nil {
		return
	}
	conn.Close()
	c.ended()
}

// ended waits for the end of the connection.
func (c *client) ended() error {
	c.t.Helper()
	c.wait(func() bool { return c.closed != nil }, "the connection ends")
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conn = nil
	return c.closed.Err
}

func (c *client) receive(a actor.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.came.Broadcast()
	switch m := a.Message().(type) {
	case *messages.Reply:
		c.replies[m.Number] = append(c.replies[m.Number], m)
	case *messages.News:
		c.hear(m)
		if h := c.streams[m.Stream]; !c.manual {
			h.acked = max(h.acked, len(h.ids)-c.behind)
			a.Send(a.Sender(), &messages.Ack{Taken: []*messages.Taken{h.taken(m.Stream, h.acked)}})
		}
	case *messages.Lost:
		c.lost = append(c.lost, m)
	case *wire.Closed:
		c.closed = m
		a.Stop(a.Self())
	}
}

// hear notes news: they must go on where the last ones ended.
func (c *client) hear(m *messages.News) {
	h := c.stream(m.Stream)
	h.news++
	if h.end != nil {
		c.t.Errorf("stream %d: news behind the end", m.Stream)
	}
	if int(m.Offset) != len(h.ids) {
		c.t.Errorf("stream %d: offset %d behind %d tokens", m.Stream, m.Offset, len(h.ids))
	}
	got, err := convert.NewsOf(m)
	if err != nil {
		c.t.Error(err)
	}
	h.ids, h.drawn, h.prompt, h.text = append(h.ids, m.Ids...), append(h.drawn, m.Drawn...), append(h.prompt, m.Prompt...), h.text+m.Text
	if got.WeightVersions != nil {
		h.versions = append(h.versions, got.WeightVersions...)
	}
	if m.KvVersions != nil {
		h.caches = m.KvVersions
	}
	h.end = m.End
}

func (c *client) stream(n uint64) *heard {
	if c.streams[n] == nil {
		c.streams[n] = &heard{}
	}
	return c.streams[n]
}

// from forgets what was heard of a stream from a token on: it will be told again.
func (c *client) from(stream uint64, offset int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := c.stream(stream)
	*h = heard{ids: h.ids[:offset], acked: h.acked}
}

// forget drops what was heard: the guest has become another one, whose streams begin anew.
func (c *client) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.streams)
}

// send sends a call and tells its number.
func (c *client) send(m *messages.Call) uint64 {
	c.mu.Lock()
	c.number++
	m.Number = c.number
	c.mu.Unlock()
	c.tell(m)
	return m.Number
}

// tell sends a message as it is.
func (c *client) tell(m proto.Message) {
	c.mu.Lock()
	conn := c.conn
	c.mu.Unlock()
	if conn != nil {
		c.system.Root.Send(conn.Engine(), proto.Clone(m))
	}
}

// reply waits for the i-th answer to a call, from 0.
func (c *client) reply(number uint64, i int) *messages.Reply {
	c.t.Helper()
	c.wait(func() bool { return len(c.replies[number]) > i }, fmt.Sprintf("answer %d to call %d", i, number))
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.replies[number][i]
}

// ask sends a call and waits for its answer.
func (c *client) ask(m *messages.Call) *messages.Reply {
	c.t.Helper()
	return c.reply(c.send(m), 0)
}

// do is ask for what must go well.
func (c *client) do(m *messages.Call) *messages.Reply {
	c.t.Helper()
	reply := c.ask(m)
	if err := convert.ErrorOf(reply.Error); err != nil {
		c.t.Fatalf("%.300v: %v", m, err)
	}
	return reply
}

// fails sends a call that must have an error.
func (c *client) fails(m *messages.Call, want error) {
	c.t.Helper()
	if err := convert.ErrorOf(c.ask(m).Error); !is(err, want) {
		c.t.Errorf("%.300v: %v, want %v", m, err, want)
	}
}

// wait waits for something that is looked at with the lock held.
func (c *client) wait(done func() bool, what string) {
	c.t.Helper()
	late := false
	timer := time.AfterFunc(patience, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		late = true
		c.came.Broadcast()
	})
	defer timer.Stop()
	c.mu.Lock()
	defer c.mu.Unlock()
	for !done() {
		if late {
			c.t.Fatal("it never comes: " + what)
		}
		c.came.Wait()
	}
}

// whole waits for the end of a stream.
func (c *client) whole(stream uint64) heard {
	c.t.Helper()
	c.wait(func() bool { return c.stream(stream).end != nil }, fmt.Sprintf("the end of stream %d", stream))
	return c.now(stream)
}

// now is what was heard of a stream.
func (c *client) now(stream uint64) heard {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := *c.stream(stream)
	h.ids = slices.Clone(h.ids)
	return h
}

// take acknowledges what was heard.
func (c *client) take(stream uint64) {
	h := c.now(stream)
	c.tell(&messages.Ack{Taken: []*messages.Taken{h.taken(stream, len(h.ids))}})
}

func prompt(n, salt int) []int32 {
	p := make([]int32, n)
	for i := range p {
		p[i] = int32((i*7919 + salt*104729 + 17) % 50021)
	}
	return p
}

func generate(id string, ids []int32, max int32) *messages.Generate {
	return &messages.Generate{Request: &messages.Request{Id: id, Input: &messages.Request_PromptIds{PromptIds: &messages.IdList{Ids: ids}}, MaxNewTokens: max, IgnoreEos: true}}
}

func callOf(m *messages.Generate) *messages.Call {
	return &messages.Call{What: &messages.Call_Generate{Generate: m}}
}

func attach(id string, offset uint32) *messages.Call {
	return &messages.Call{What: &messages.Call_Attach{Attach: &messages.Attach{Id: id, Offset: offset}}}
}

// local is what the engine itself gives for the same.
func (r *rig) local(t testing.TB, ids []int32, n int) engine.Output {
	t.Helper()
	s, err := r.engine.AddRequest(t.Context(), engine.Request{PromptIDs: ids, MaxNewTokens: n, IgnoreEOS: true})
	if err != nil {
		t.Fatal(err)
	}
	return s.Wait(t.Context())
}
