package gateway_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/gateway"
	"github.com/cbactor/cbactor/engine/internal/convert"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/internal/wire"
	"github.com/cbactor/cbactor/messages"
)

func hello(protocol uint32) *messages.Call {
	return &messages.Call{What: &messages.Call_Hello{Hello: &messages.Hello{Protocol: protocol}}}
}

// slowEcho waits a moment in each step, so that much can happen meanwhile.
func slowEcho(d time.Duration) executor.EchoConfig {
	return executor.EchoConfig{Delay: func(*executor.Batch) { time.Sleep(d) }}
}

// Every connection begins with Hello, which tells what the engine is.
func TestHello(t *testing.T) {
	r := echo(t, executor.EchoConfig{}, gateway.Options{Name: "run-7", Kept: time.Second, Ends: []int32{3}, Recommended: []byte("{}")})
	c := newClient(t, r)
	w := c.hello()
	info, err := convert.InfoOf(w.GetInfo())
	if err != nil || info.Vocab != r.engine.Info().Vocab || info.Seed != r.engine.Info().Seed {
		t.Errorf("%+v (%v)", info, err)
	}
	if w.Engine != "run-7" || w.Text || w.KeptMs != 1000 || w.MaxChunk != 1<<20 || !slices.Equal(w.RecommendedEnds, []int32{3}) || string(w.Recommended) != "{}" {
		t.Errorf("%v", w)
	}
	c.cut()
	c.connect()
	c.fails(callOf(generate("", prompt(5, 1), 1)), convert.ErrProtocol)
	if err := c.ended(); !is(err, wire.ErrEnded) {
		t.Errorf("it ends by %v", err)
	}
	c.connect()
	c.fails(hello(2), convert.ErrProtocol)
	if err := c.ended(); !is(err, wire.ErrEnded) {
		t.Errorf("it ends by %v", err)
	}
	c.hello()
}

// A guest that was away for too long is told, until it has heard; one that had nothing is not.
func TestForgottenGuests(t *testing.T) {
	const kept = time.Second
	r := echo(t, slowEcho(time.Millisecond), gateway.Options{Kept: kept})
	c := newClient(t, r)
	tries := 0
	soon := func(tokens int32, what string) { // another guest than one that has just gone with something
		for ; tries < 20; tries++ {
			c.do(callOf(generate(fmt.Sprint(tries), prompt(5, 1), tokens)))
			begin := time.Now()
			c.cut()
			forgotten := c.hello().GetForgotten()
			if time.Since(begin) < kept { // else it was away for long
				tries++
				if forgotten {
					t.Error(what)
				}
				return
			}
			if forgotten {
				c.forget()
			}
		}
		t.Error("no connection can be made within a second")
	}
	for range 2 {
		if c.hello().GetForgotten() {
			t.Error("a new guest is told of what it had")
		}
		c.cut()
	}
	c.hello()
	soon(3000, "a guest is forgotten at once")
	c.cut()
	r.idle(t)
	for range 2 {
		if !c.hello().GetForgotten() {
			t.Error("a guest is kept for too long")
		}
		c.cut()
	}
	c.forget()
	c.hello()
	soon(3, "a guest is told again")
}

// Over a new connection a client takes up its sequences where it has left them: nothing is
// missing, and nothing was generated twice.
func TestSequencesOutliveConnections(t *testing.T) {
	r := echo(t, slowEcho(time.Millisecond), gateway.Options{})
	c := join(t, r)
	c.behind = 5
	want := r.local(t, prompt(20, 1), 150)
	stream := c.do(callOf(generate("a", prompt(20, 1), 150))).GetAccepted().GetSequences()[0].Stream
	for i := 1; c.now(stream).end == nil; i++ {
		c.wait(func() bool { return len(c.stream(stream).ids) > 30*i || c.stream(stream).end != nil }, "some tokens")
		c.cut()
		if h := c.now(stream); h.end != nil {
			break
		}
		at := len(c.now(stream).ids) - c.behind
		c.hello()
		c.from(stream, at)
		if got := c.do(attach("a", uint32(at))).GetAccepted().GetSequences(); len(got) != 1 || got[0].Stream != stream {
			t.Fatalf("%v", got)
		}
	}
	if h := c.now(stream); !slices.Equal(h.ids, want.TokenIDs) {
		t.Errorf("%v, want %v", h.ids, want.TokenIDs)
	}
	if n := r.engine.Metrics().Accepted; n != 2 {
		t.Errorf("%d requests were accepted, want 2", n)
	}
}

// The end of a sequence waits for its client, who says over another connection that it has
// it, or hears of it again.
func TestEndsWait(t *testing.T) {
	r := echo(t, executor.EchoConfig{}, gateway.Options{})
	c := join(t, r)
	c.manual = true
	stream := c.do(callOf(generate("a", prompt(20, 1), 5))).GetAccepted().GetSequences()[0].Stream
	first := c.whole(stream)
	c.cut()
	c.hello()
	c.from(stream, 0)
	c.do(attach("a", 0))
	if again := c.whole(stream); !slices.Equal(again.ids, first.ids) || again.end.EndedNs != first.end.EndedNs {
		t.Errorf("%v, want %v", again, first)
	}
	c.fails(attach("a", 6), engine.ErrParams)
	c.cut()
	c.hello()
	c.tell(&messages.Ack{Taken: []*messages.Taken{{Stream: stream, Offset: 5, Done: true}}})
	c.fails(attach("a", 0), engine.ErrUnknownID)
}

// An answer that was lost is given again; a call that was under way is not obeyed twice.
func TestAnswersOutliveConnections(t *testing.T) {
	gate := make(chan struct{})
	r := echo(t, executor.EchoConfig{Delay: func(*executor.Batch) { <-gate }}, gateway.Options{})
	c := join(t, r)
	c.manual = true
	// The queue is held up by a pause that cannot be had, since a step does not end.
	done := c.send(callOf(generate("a", prompt(20, 1), 3)))
	stream := c.reply(done, 0).GetAccepted().GetSequences()[0].Stream
	pause := &messages.Call{What: &messages.Call_Pause{Pause: &messages.Pause{Mode: uint32(engine.PauseKeep)}}}
	waits := c.send(pause)
	c.cut()
	c.hello()
	m := callOf(generate("a", prompt(20, 1), 3))
	m.Number = done
	c.tell(m) // the answer again, and its news
	pause.Number = waits
	c.tell(pause)
	if got := c.reply(done, 1).GetAccepted().GetSequences()[0].Stream; got != stream {
		t.Errorf("stream %d, want %d", got, stream)
	}
	close(gate)
	hold := c.reply(waits, 0).GetHeld().GetHold()
	if n := r.engine.Status().Holders; n != 1 {
		t.Errorf("%d holders", n)
	}
	c.do(&messages.Call{Settled: waits + 1, What: &messages.Call_Release{Release: &messages.Release{Hold: hold}}})
	c.whole(stream)
	c.tell(pause) // it is settled: nobody answers
	c.do(&messages.Call{What: &messages.Call_Status{Status: &messages.AskStatus{}}})
	if n := len(c.replies[waits]); n != 1 {
		t.Errorf("%d answers", n)
	}
	if n := r.engine.Metrics().Accepted; n != 1 {
		t.Errorf("%d requests were accepted, want 1", n)
	}
}

// A second connection of the same client ends the first, and takes all that it had.
func TestSecondConnectionReplacesTheFirst(t *testing.T) {
	r := echo(t, slowEcho(time.Millisecond), gateway.Options{})
	c := join(t, r)
	c.manual = true
	stream := c.do(callOf(generate("a", prompt(20, 1), 100))).GetAccepted().GetSequences()[0].Stream
	again := newClient(t, r)
	again.id, again.number = c.id, 1000
	again.hello()
	if err := c.ended(); !is(err, wire.ErrReplaced) {
		t.Errorf("the first ends by %v", err)
	}
	again.do(attach("a", 0))
	if h := again.whole(stream); !slices.Equal(h.ids, r.local(t, prompt(20, 1), 100).TokenIDs) {
		t.Errorf("%v", h.ids)
	}
	r.idle(t)
}

// What a guest has lives no longer than it is kept: requests, pauses, updates and what it has
// not read. Then its id is anybody's.
func TestVanishedClientsAreFreed(t *testing.T) {
	r := echo(t, slowEcho(time.Millisecond), gateway.Options{Kept: 50 * time.Millisecond})
	for range 5 {
		c := join(t, r)
		c.manual = true
		for i := range 10 {
			c.do(callOf(generate("", prompt(20, i), 0)))
		}
		c.do(&messages.Call{What: &messages.Call_Pause{Pause: &messages.Pause{}}})
		c.cut()
		r.idle(t)
		c.hello()
		c.do(&messages.Call{What: &messages.Call_Status{Status: &messages.AskStatus{}}})
	}
}

// Goodbye frees at once, and is answered.
func TestGoodbye(t *testing.T) {
	r := echo(t, slowEcho(time.Millisecond), gateway.Options{Kept: time.Hour})
	c := join(t, r)
	c.do(callOf(generate("a", prompt(20, 1), 0)))
	c.do(&messages.Call{What: &messages.Call_Pause{Pause: &messages.Pause{}}})
	c.do(&messages.Call{What: &messages.Call_Goodbye{Goodbye: &messages.Goodbye{}}})
	if err := c.ended(); !is(err, wire.ErrEnded) {
		t.Errorf("it ends by %v", err)
	}
	r.idle(t)
	c.hello()
	c.fails(attach("a", 0), engine.ErrUnknownID)
}

// There are as many guests as there may be; one that has nothing goes with its connection.
func TestGuestLimit(t *testing.T) {
	r := echo(t, executor.EchoConfig{}, gateway.Options{Limits: gateway.Limits{Guests: 2}, Kept: time.Hour})
	join(t, r)
	second := join(t, r)
	third := newClient(t, r)
	if err := third.dial(r.Addr().String()); !is(err, wire.ErrLost) || !strings.Contains(err.Error(), "try again later") {
		t.Errorf("the third: %v", err)
	}
	second.cut()
	until(t, func() bool { return third.dial(r.Addr().String()) == nil }, func() string { return "room for the third" })
}

// Closing the gateway ends everything under its guests, while the engine goes on.
func TestClose(t *testing.T) {
	r := echo(t, slowEcho(time.Millisecond), gateway.Options{})
	c := join(t, r)
	c.do(callOf(generate("a", prompt(20, 1), 0)))
	c.do(&messages.Call{What: &messages.Call_Pause{Pause: &messages.Pause{}}})
	r.Close()
	r.Close()
	if err := c.ended(); err == nil {
		t.Error("its connection ends in good order")
	}
	r.idle(t)
	r.local(t, prompt(5, 1), 3)
}

// An engine that stops, or is closed, under its guests ends what they have, and says so.
func TestEngineEndsUnderGuests(t *testing.T) {
	r := echo(t, slowEcho(time.Millisecond), gateway.Options{})
	c := join(t, r)
	stream := c.do(callOf(generate("a", prompt(20, 1), 0))).GetAccepted().GetSequences()[0].Stream
	c.do(&messages.Call{What: &messages.Call_Stop{Stop: &messages.StopSession{Hard: true, Keep: true}}})
	if h := c.whole(stream); !is(convert.ErrorOf(h.end.Error), engine.ErrStopped) {
		t.Errorf("%v", h.end)
	}
	c.fails(callOf(generate("", prompt(5, 1), 1)), engine.ErrNotRunning)
	c.do(&messages.Call{What: &messages.Call_Join{Join: &messages.JoinSession{}}})
	c.do(&messages.Call{What: &messages.Call_Start{Start: &messages.StartSession{}}})
	c.do(&messages.Call{What: &messages.Call_Warmup{Warmup: &messages.Warmup{}}})
	stream = c.do(callOf(generate("b", prompt(20, 1), 0))).GetAccepted().GetSequences()[0].Stream
	if err := r.engine.Close(); err != nil {
		t.Fatal(err)
	}
	if h := c.whole(stream); h.end.Reason != "failed" {
		t.Errorf("%v", h.end)
	}
	c.fails(callOf(generate("", prompt(5, 1), 1)), engine.ErrClosed)
	if s := c.do(&messages.Call{What: &messages.Call_Status{Status: &messages.AskStatus{}}}).GetStatus(); s.Mode != "closed" {
		t.Errorf("%v", s)
	}
}
