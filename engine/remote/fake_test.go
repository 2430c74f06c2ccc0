package remote_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/rs/zerolog"
	"google.golang.org/protobuf/proto"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/internal/convert"
	"github.com/cbactor/cbactor/engine/remote"
	"github.com/cbactor/cbactor/internal/wire"
	"github.com/cbactor/cbactor/messages"
)

// fake is an engine that says what a test has it say.
type fake struct {
	t       *testing.T
	system  *actor.ActorSystem
	server  *wire.Server
	welcome *messages.Welcome
	client  *actor.PID // of the connection that there is
	heard   chan proto.Message
	opened  chan *actor.PID
}

func newFake(t *testing.T) *fake {
	t.Helper()
	info, err := convert.Info(engine.Info{Executor: "fake"})
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{t: t, heard: make(chan proto.Message, 256), opened: make(chan *actor.PID, 16),
		system:  actor.NewActorSystem(actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return slog.New(slog.DiscardHandler) })),
		welcome: &messages.Welcome{Protocol: 1, Engine: "first", Info: info, MaxOpen: 2, MaxChunk: 1 << 20, MaxInFlight: 4, KeptMs: 60000}}
	guest := f.system.Root.Spawn(actor.PropsFromFunc(f.receive))
	f.server, err = wire.Serve(f.system, wire.ServerOptions{Listen: "127.0.0.1:0", Name: "fake", Log: zerolog.Nop(),
		Accept:  func(wire.Peer) (*actor.PID, error) { return guest, nil },
		Inbound: []proto.Message{(*messages.Call)(nil), (*messages.Drop)(nil), (*messages.Ack)(nil)}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		f.server.Close()
		f.system.Root.Stop(guest)
		f.system.Shutdown()
	})
	return f
}

// receive answers Hello and Goodbye, and hands the rest to the test.
func (f *fake) receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *wire.Opened:
		f.opened <- m.Client
	case *messages.Call:
		reply := &messages.Reply{Number: m.GetNumber()}
		switch {
		case m.GetHello() != nil:
			reply.What = &messages.Reply_Welcome{Welcome: f.welcome}
		case m.GetGoodbye() != nil:
		default:
			f.heard <- m
			return
		}
		c.Respond(reply)
	case *messages.Drop:
		f.heard <- m
	case *messages.Ack:
		f.heard <- m
	}
}

// connect connects a client, which is patient.
func (f *fake) connect() *remote.Client {
	f.t.Helper()
	c := connect(f.t, f.server.Addr().String(), remote.Options{Patience: 10 * time.Second})
	f.client = <-f.opened
	return c
}

// cut ends the connection and waits for the next one.
func (f *fake) cut() {
	f.t.Helper()
	f.system.Root.Poison(f.client)
	select {
	case f.client = <-f.opened:
	case <-time.After(10 * time.Second):
		f.t.Fatal("the client does not come back")
	}
}

// hear is the next that the client says.
func (f *fake) hear() proto.Message {
	f.t.Helper()
	select {
	case m := <-f.heard:
		return m
	case <-time.After(10 * time.Second):
		f.t.Fatal("the client says nothing")
		return nil
	}
}

func (f *fake) call() *messages.Call {
	f.t.Helper()
	m := f.hear()
	c, ok := m.(*messages.Call)
	if !ok {
		f.t.Fatalf("the client says %T %v, not a call", m, m)
	}
	return c
}

// silent tells that the client has nothing to say for a while.
func (f *fake) silent() {
	f.t.Helper()
	select {
	case m := <-f.heard:
		f.t.Errorf("the client says %T %v", m, m)
	case <-time.After(30 * time.Millisecond):
	}
}

func (f *fake) say(m proto.Message) { f.system.Root.Send(f.client, m) }

func (f *fake) accept(c *messages.Call, streams ...uint64) {
	m := new(messages.Accepted)
	for i, s := range streams {
		id := c.GetGenerate().GetRequest().GetId() + c.GetAttach().GetId()
		if i > 0 {
			id = fmt.Sprintf("%s/%d", id, i)
		}
		m.Sequences = append(m.Sequences, &messages.Sequence{Stream: s, Id: id})
	}
	f.say(&messages.Reply{Number: c.GetNumber(), What: &messages.Reply_Accepted{Accepted: m}})
}

func news(stream uint64, offset uint32, ids ...int32) *messages.News {
	return &messages.News{Stream: stream, Offset: offset, Ids: ids}
}

func lastNews(stream uint64, offset uint32, ids ...int32) *messages.News {
	n := news(stream, offset, ids...)
	n.End = &messages.End{Reason: "length"}
	return n
}

// adding submits a request beside the test.
func adding(c *remote.Client, ctx context.Context, r engine.Request) (<-chan *engine.Stream, <-chan error) {
	streams, errs := make(chan *engine.Stream, 1), make(chan error, 1)
	go func() {
		s, err := c.AddRequest(ctx, r)
		if err != nil {
			errs <- err
			return
		}
		streams <- s
	}()
	return streams, errs
}

// Over another connection a client says again what was not answered, with the same numbers,
// and nothing else; it asks for sequences from where they have come to.
func TestWhatIsSaidAgain(t *testing.T) {
	f := newFake(t)
	c := f.connect()
	streams, _ := adding(c, t.Context(), engine.Request{ID: "a", PromptIDs: ids(3, 1)})
	first := f.call()
	f.accept(first, 7)
	s := <-streams
	f.say(news(7, 0, 4, 5, 6))
	read(t, s, 3)
	waiting, _ := adding(c, t.Context(), engine.Request{ID: "b", PromptIDs: ids(3, 1)})
	second := f.call()
	f.cut()

	again := f.call()
	if !proto.Equal(again.GetGenerate(), second.GetGenerate()) || again.GetNumber() != second.GetNumber() || again.GetSettled() != second.GetNumber() {
		t.Errorf("%v, was %v", again, second)
	}
	attach := f.call()
	if a := attach.GetAttach(); a.GetId() != "a" || a.GetOffset() != 3 || attach.GetNumber() <= again.GetNumber() {
		t.Errorf("%v", attach)
	}
	f.say(news(7, 1, 99, 99)) // of before the answer: nobody's
	f.accept(attach, 7)
	f.accept(again, 8)
	f.say(lastNews(7, 3, 7))
	f.say(lastNews(8, 0, 1))
	if out := s.Wait(t.Context()); !slices.Equal(out.TokenIDs, []int32{4, 5, 6, 7}) {
		t.Errorf("%+v", out)
	}
	if out := (<-waiting).Wait(t.Context()); !slices.Equal(out.TokenIDs, []int32{1}) {
		t.Errorf("%+v", out)
	}
	for _, want := range []*messages.Taken{{Stream: 7, Offset: 4, Done: true}, {Stream: 8, Offset: 1, Done: true}} {
		if m, ok := f.hear().(*messages.Ack); !ok || len(m.GetTaken()) != 1 || !proto.Equal(m.GetTaken()[0], want) {
			t.Errorf("%v, want %v", m, want)
		}
	}
	f.cut() // it may not have heard of the ends
	if m, ok := f.hear().(*messages.Ack); !ok || len(m.GetTaken()) != 2 {
		t.Errorf("%v", m)
	}
	f.silent()
}

// A client takes tokens as they come, and says so before the window is full.
func TestTakenIsSaid(t *testing.T) {
	f := newFake(t)
	c := f.connect()
	streams, _ := adding(c, t.Context(), engine.Request{PromptIDs: ids(3, 1)})
	call := f.call()
	f.accept(call, 1)
	<-streams
	window := call.GetGenerate().GetWindow()
	for offset := uint32(0); offset < window; offset++ {
		f.say(news(1, offset, 5))
	}
	taken := uint32(0)
	for taken < window {
		m, ok := f.hear().(*messages.Ack)
		if !ok || m.GetTaken()[0].GetOffset() <= taken {
			t.Fatalf("%v behind %d", m, taken)
		}
		taken = m.GetTaken()[0].GetOffset()
	}
}

// Requests that wait for room are sent when the engine has it, in order; those that do not
// are the engine's to refuse.
func TestRoomIsWaitedFor(t *testing.T) {
	f := newFake(t)
	c := f.connect()
	got := make(chan []engine.Output, 1)
	go func() {
		outs, err := c.GenerateBatch(t.Context(), slices.Repeat([]engine.Request{{PromptIDs: ids(3, 1)}}, 4), engine.BatchOptions{})
		if err != nil {
			t.Error(err)
		}
		got <- outs
	}()
	f.accept(f.call(), 1)
	f.accept(f.call(), 2)
	f.silent()
	adding(c, t.Context(), engine.Request{ID: "now", PromptIDs: ids(3, 1)})
	refused := f.call()
	if refused.GetGenerate().GetRequest().GetId() != "now" {
		t.Errorf("%v", refused)
	}
	f.say(&messages.Reply{Number: refused.GetNumber(), Error: &messages.Error{Code: "queue_full"}})
	f.say(lastNews(2, 0, 3))
	f.hear()
	f.accept(f.call(), 3)
	f.silent()
	f.say(lastNews(1, 0, 2))
	f.hear()
	f.accept(f.call(), 4)
	f.say(lastNews(3, 0, 4))
	f.say(lastNews(4, 0, 5))
	for i, out := range <-got {
		if !slices.Equal(out.TokenIDs, []int32{int32(i + 2)}) {
			t.Errorf("%d: %+v", i, out)
		}
	}
}

// A context that ends is told; what was accepted nevertheless is cancelled.
func TestDropIsSaid(t *testing.T) {
	f := newFake(t)
	c := f.connect()
	ctx, cancel := context.WithCancel(t.Context())
	_, errs := adding(c, ctx, engine.Request{ID: "a", PromptIDs: ids(3, 1)})
	call := f.call()
	cancel()
	if m, ok := f.hear().(*messages.Drop); !ok || m.GetNumber() != call.GetNumber() {
		t.Errorf("%v", m)
	}
	f.say(&messages.Reply{Number: call.GetNumber(), Error: &messages.Error{Code: "request_cancelled"}})
	if err := <-errs; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	streams, _ := adding(c, ctx, engine.Request{ID: "b", PromptIDs: ids(3, 1)})
	call = f.call()
	cancel()
	f.hear()
	f.accept(call, 1)
	if m := f.call(); m.GetCancel().GetId() != "b" {
		t.Errorf("%v", m)
	}
	end := lastNews(1, 0)
	end.End.Reason = "cancelled"
	f.say(end)
	if out := (<-streams).Wait(t.Context()); out.FinishReason != engine.FinishCancelled {
		t.Errorf("%+v", out)
	}
}

// An engine that has forgotten the client is not asked again for what it may have done.
func TestAwayForTooLong(t *testing.T) {
	f := newFake(t)
	c := f.connect()
	streams, _ := adding(c, t.Context(), engine.Request{ID: "a", PromptIDs: ids(3, 1)})
	f.accept(f.call(), 7)
	s := <-streams
	_, errs := adding(c, t.Context(), engine.Request{ID: "b", PromptIDs: ids(3, 1)})
	f.call()
	f.welcome = proto.CloneOf(f.welcome)
	f.welcome.Forgotten = true
	f.cut()
	if out := s.Wait(t.Context()); !errors.Is(out.Err, remote.ErrUnreachable) || !errors.Is(out.Err, engine.ErrFailed) {
		t.Errorf("%+v", out)
	}
	if err := <-errs; !errors.Is(err, remote.ErrUnreachable) || !errors.Is(err, engine.ErrUnavailable) {
		t.Errorf("%v", err)
	}
	f.silent()
}

// What contradicts the protocol fails what it is about, and nothing else.
func TestNonsenseFromTheEngine(t *testing.T) {
	f := newFake(t)
	c := f.connect()
	for name, m := range map[string]*messages.News{
		"a gap":       news(1, 1, 4),
		"again":       news(1, 0, 4),
		"drawn":       {Stream: 1, Offset: 1, Ids: []int32{4}, Drawn: make([]*messages.Drawn, 2)},
		"reason":      {Stream: 1, Offset: 1, End: &messages.End{Reason: "so"}},
		"spans":       {Stream: 1, Offset: 1, Ids: []int32{4}, KvVersions: []*messages.Span{{Start: 4, End: 3}}},
		"the far end": {Stream: 1, Offset: 1<<32 - 1},
	} {
		streams, _ := adding(c, t.Context(), engine.Request{ID: name, PromptIDs: ids(3, 1)})
		f.accept(f.call(), 1)
		s := <-streams
		if name != "a gap" {
			f.say(news(1, 0, 3))
		}
		f.say(m)
		if out := s.Wait(t.Context()); !errors.Is(out.Err, remote.ErrMalformed) || out.FinishReason != engine.FinishFailed {
			t.Errorf("%s: %+v", name, out)
		}
		cancel := f.call()
		if cancel.GetCancel().GetId() != name {
			t.Errorf("%s: %v", name, cancel)
		}
		f.say(&messages.Reply{Number: cancel.GetNumber()})
		f.say(lastNews(1, 2, 9))
		if ack, ok := f.hear().(*messages.Ack); !ok || !ack.GetTaken()[0].GetDone() {
			t.Errorf("%s: %v", name, ack)
		}
	}
	_, errs := adding(c, t.Context(), engine.Request{ID: "n", PromptIDs: ids(3, 1)})
	f.accept(f.call(), 1, 2)
	if err := <-errs; !errors.Is(err, remote.ErrMalformed) {
		t.Errorf("two sequences for one: %v", err)
	}
	f.say(&messages.Reply{Number: 1 << 40})
	f.say(&messages.Lost{Hold: 9})
	f.call()
	streams, _ := adding(c, t.Context(), engine.Request{PromptIDs: ids(3, 1)})
	f.accept(f.call(), 5)
	f.say(lastNews(5, 0, 8))
	if out := (<-streams).Wait(t.Context()); out.FinishReason != engine.FinishLength {
		t.Errorf("%+v", out)
	}
}

// What an engine says of itself is checked.
func TestWelcomes(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*messages.Welcome)
		want   error
	}{
		"protocol": {func(w *messages.Welcome) { w.Protocol = 2 }, remote.ErrProtocol},
		"no name":  {func(w *messages.Welcome) { w.Engine = "" }, remote.ErrMalformed},
		"no chunk": {func(w *messages.Welcome) { w.MaxChunk = 3 }, remote.ErrMalformed},
		"no info":  {func(w *messages.Welcome) { w.Info = nil }, remote.ErrMalformed},
		"no room":  {func(w *messages.Welcome) { w.MaxOpen = 0 }, remote.ErrMalformed},
	} {
		f := newFake(t)
		c.change(f.welcome)
		if _, err := remote.Connect(t.Context(), f.server.Addr().String(), remote.Options{}); !errors.Is(err, c.want) || !errors.Is(err, remote.ErrUnreachable) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Another run of the engine that tells other things of itself is used as it is; one with another model
// is none that the client goes on with.
func TestAnotherWelcome(t *testing.T) {
	f := newFake(t)
	c := f.connect()
	for _, other := range []bool{false, true} {
		info := engine.Info{Executor: "fake", Blocks: 99}
		if f.welcome = proto.CloneOf(f.welcome); other {
			info.Vocab = 5
		}
		var err error
		if f.welcome.Info, err = convert.Info(info); err != nil {
			t.Fatal(err)
		}
		f.welcome.Engine += "'"
		_, errs := adding(c, t.Context(), engine.Request{ID: "a", PromptIDs: ids(3, 1)})
		f.call()
		f.cut()
		if err := <-errs; !errors.Is(err, remote.ErrRestarted) || errors.Is(err, remote.ErrOther) != other {
			t.Errorf("%v", err)
		}
		if got := c.Info(); got.Blocks != 99 || got.Vocab != 0 {
			t.Errorf("%+v", got)
		}
	}
}

// Answers that an older call keeps from being settled are said to have arrived.
func TestArrivalsAreSaid(t *testing.T) {
	f := newFake(t)
	c := f.connect()
	ctx, cancel := context.WithCancel(t.Context())
	joined := make(chan error, 1)
	go func() { joined <- c.Join(ctx) }()
	join := f.call()
	said := 0
	for said < 100 {
		adding(c, t.Context(), engine.Request{PromptIDs: ids(3, 1)})
		m := f.hear()
		for ack, ok := m.(*messages.Ack); ok; ack, ok = m.(*messages.Ack) {
			said += len(ack.GetAnswers())
			m = f.hear()
		}
		call := m.(*messages.Call)
		if call.GetSettled() > join.GetNumber() {
			t.Fatalf("%v is settled, %v was not answered", call.GetSettled(), join.GetNumber())
		}
		f.say(&messages.Reply{Number: call.GetNumber(), Error: &messages.Error{Code: "queue_full"}})
	}
	cancel()
	f.say(&messages.Reply{Number: join.GetNumber()})
	if err := <-joined; err != nil {
		t.Error(err)
	}
}
