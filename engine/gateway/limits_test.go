package gateway_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/gateway"
	"github.com/cbactor/cbactor/engine/internal/convert"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/internal/wire"
	"github.com/cbactor/cbactor/messages"
)

// blocked is an engine whose Join waits for its context, and whose Warmup panics.
type blocked struct{ *engine.Engine }

func (blocked) Join(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }

func (blocked) Warmup(context.Context, func(int, int)) error { panic("a defect") }

func serveBlocked(t *testing.T, l gateway.Limits) *rig {
	t.Helper()
	e, err := engine.Spawn(t.Context(), engine.Config{Executor: executor.NewEcho(executor.EchoConfig{Blocks: 64})})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	g, err := gateway.New(blocked{e}, nil, gateway.Options{Listen: "127.0.0.1:0", Limits: l})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	return &rig{Gateway: g, engine: e}
}

var (
	joinSession = &messages.Call{What: &messages.Call_Join{Join: &messages.JoinSession{}}}
	askStatus   = &messages.Call{What: &messages.Call_Status{Status: &messages.AskStatus{}}}
)

// A guest has as many calls under way as it may, and no more.
func TestCallLimits(t *testing.T) {
	r := serveBlocked(t, gateway.Limits{Calls: 2, CallBytes: 1000})
	c := join(t, r)
	var under []uint64
	for range 2 {
		under = append(under, c.send(joinSession))
	}
	c.fails(askStatus, convert.ErrLimit)
	c.tell(&messages.Drop{Number: under[0]})
	if err := convert.ErrorOf(c.reply(under[0], 0).Error); !is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	c.do(askStatus)
	c.fails(callOf(generate("", prompt(1000, 1), 1)), convert.ErrLimit)
	c.do(callOf(generate("", prompt(10, 1), 1)))
}

// Answers are kept until the client has them, and as many as there may be: also where an old
// call is under way, as long as the client says which ones it has.
func TestAnswerLimits(t *testing.T) {
	r := serveBlocked(t, gateway.Limits{Answers: 22_000})
	c := join(t, r)
	c.send(joinSession)
	last := c.send(askStatus)
	refused := 0
	for range 100 {
		if c.reply(last, 0).GetError() != nil {
			refused++
			c.tell(&messages.Ack{Answers: slices.Collect(func(yield func(uint64) bool) {
				for n := range last {
					if !yield(n + 1) {
						return
					}
				}
			})})
		}
		last = c.send(askStatus)
	}
	if refused == 0 || refused > 20 {
		t.Errorf("%d of 100 calls were refused", refused)
	}
}

// A call that panics fails alone.
func TestPanicEndsTheCall(t *testing.T) {
	r := serveBlocked(t, gateway.Limits{})
	c := join(t, r)
	warm := &messages.Call{What: &messages.Call_Warmup{Warmup: &messages.Warmup{}}}
	for range 2 {
		if e := c.ask(warm).GetError(); e.GetCode() != "internal_error" {
			t.Errorf("%v", e)
		}
	}
	c.do(askStatus)
}

// A defect in a guest ends it, with all that it has, and no other one; its client may come again.
func TestPanicEndsTheGuest(t *testing.T) {
	r := echo(t, slowEcho(time.Millisecond), gateway.Options{})
	c, other := join(t, r), join(t, r)
	c.do(callOf(generate("a", prompt(20, 1), 0)))
	c.do(pause(&messages.Pause{}))
	r.Break(c.id)
	if err := c.ended(); !is(err, wire.ErrEnded) {
		t.Errorf("its connection ends by %v", err)
	}
	r.idle(t)
	other.do(askStatus)
	c.hello()
	c.fails(attach("a", 0), engine.ErrUnknownID)
}

// A client that says it has answers which it has never got, or takes what was not told, or
// numbers calls as it likes, harms itself at most.
func TestHostileNumbers(t *testing.T) {
	r := echo(t, executor.EchoConfig{}, gateway.Options{})
	c := join(t, r)
	c.manual = true
	stream := c.do(callOf(generate("a", prompt(20, 1), 5))).GetAccepted().GetSequences()[0].Stream
	for _, ack := range []*messages.Ack{
		{Taken: []*messages.Taken{{Stream: 99, Offset: 1}}},
		{Taken: []*messages.Taken{{Stream: stream, Offset: 1 << 31, Prompt: 1 << 31}}},
		{Answers: []uint64{0, 1 << 63, 1, 1}},
	} {
		c.tell(ack)
	}
	c.tell(&messages.Drop{Number: 1 << 63})
	c.tell(&messages.Call{Number: 0, Settled: 1 << 63, What: askStatus.What})
	c.tell(&messages.Call{Number: 1 << 62, Settled: 1 << 63, What: askStatus.What})
	c.reply(1<<62, 0)
	c.mu.Lock()
	c.number = 1 << 62
	c.mu.Unlock()
	c.whole(stream)
	c.take(stream)
	c.do(askStatus)
	r.idle(t)
}

// An id belongs to the certificate that came with it first.
func TestIdentity(t *testing.T) {
	r := echo(t, executor.EchoConfig{}, gateway.Options{})
	const id = "client-with-a-name"
	if err := r.Accept(wire.Peer{ID: id, Identity: "one"}); err != nil {
		t.Fatal(err)
	}
	if err := r.Accept(wire.Peer{ID: id, Identity: "two"}); err == nil {
		t.Error("another identity is taken for the first")
	}
	if err := r.Accept(wire.Peer{ID: id, Identity: "one"}); err != nil {
		t.Error(err)
	}
}

// Without TLS it listens on loopback alone.
func TestInsecure(t *testing.T) {
	e, err := engine.Spawn(t.Context(), engine.Config{Executor: executor.NewEcho(executor.EchoConfig{Blocks: 64})})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}()
	if g, err := gateway.New(e, nil, gateway.Options{Listen: "0.0.0.0:0"}); !is(err, wire.ErrInsecure) {
		t.Errorf("%v (%v)", g, err)
	}
}
