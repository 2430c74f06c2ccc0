package gateway_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/gateway"
	"github.com/cbactor/cbactor/engine/internal/convert"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/internal/wire"
	"github.com/cbactor/cbactor/messages"
)

// What frees something is obeyed although as many calls are under way as there may be.
func TestFreeingIsNeverRefused(t *testing.T) {
	r := serveBlocked(t, gateway.Limits{Calls: 2})
	c := join(t, r)
	hold := c.do(pause(&messages.Pause{LeaseNs: int64(time.Hour)})).GetHeld().GetHold()
	stream := c.do(callOf(generate("a", prompt(20, 1), 0))).GetAccepted().GetSequences()[0].Stream
	for range 2 {
		c.send(joinSession)
	}
	c.fails(askStatus, convert.ErrLimit)
	c.do(&messages.Call{What: &messages.Call_Renew{Renew: &messages.Renew{Hold: hold}}})
	c.do(&messages.Call{What: &messages.Call_Cancel{Cancel: &messages.Cancel{Id: "a"}}})
	c.do(&messages.Call{What: &messages.Call_AbortUpdate{AbortUpdate: &messages.AbortUpdate{Update: 9}}})
	c.do(release(hold, ""))
	if h := c.whole(stream); h.end.Reason != "cancelled" {
		t.Errorf("%v", h.end)
	}
	large := &messages.Cancel{Id: string(make([]byte, 5000))}
	c.fails(&messages.Call{What: &messages.Call_Cancel{Cancel: large}}, convert.ErrLimit)
	c.do(&messages.Call{What: &messages.Call_Goodbye{Goodbye: &messages.Goodbye{}}})
	r.idle(t)
}

// Room for answers is taken before they are made: many calls at once have no more of them than one
// after the other.
func TestAnswersAreReserved(t *testing.T) {
	const limit, many = 1 << 20, 200
	r := serve(t, engine.Config{Threads: 1}, gateway.Options{Limits: gateway.Limits{Answers: limit, Chunks: many}})
	c := join(t, r)
	hold := c.do(pause(&messages.Pause{})).GetHeld().GetHold()
	names := &messages.Call{What: &messages.Call_ReadTensor{ReadTensor: &messages.ReadTensor{Hold: hold, Name: "model.embed_tokens.weight", Bytes: 20_000}}}
	var numbers []uint64
	for range many {
		numbers = append(numbers, c.send(names))
	}
	bytes, refused := 0, 0
	for _, n := range numbers {
		reply := c.reply(n, 0)
		if err := convert.ErrorOf(reply.Error); is(err, convert.ErrLimit) {
			refused++
		} else if err != nil {
			t.Fatal(err)
		}
		bytes += len(reply.GetTensorPart().GetData())
	}
	if bytes > limit || bytes < limit/2 || refused == 0 {
		t.Errorf("%d bytes of answers, %d calls refused", bytes, refused)
	}
	c.do(&messages.Call{Settled: numbers[many-1] + 1, What: names.What})
}

// Pauses that are asked for count as those that are held.
func TestPausesAreBounded(t *testing.T) {
	r := echo(t, slowEcho(time.Millisecond), gateway.Options{Limits: gateway.Limits{Holds: 2}})
	c := join(t, r)
	var numbers []uint64
	for range 20 {
		numbers = append(numbers, c.send(pause(&messages.Pause{})))
	}
	held := 0
	for _, n := range numbers {
		switch err := convert.ErrorOf(c.reply(n, 0).Error); {
		case err == nil:
			held++
		case !is(err, convert.ErrLimit):
			t.Error(err)
		}
	}
	if n := r.engine.Status().Holders; held != 2 || n != 2 {
		t.Errorf("%d pauses were granted, there are %d holders", held, n)
	}
}

// A request for which two calls wait goes on when one of them is given up, and ends with the last.
func TestDropOfOneOfTwo(t *testing.T) {
	gate := make(chan struct{})
	r := serve(t, engine.Config{Executor: executor.NewEcho(executor.EchoConfig{Blocks: 64, Delay: func(*executor.Batch) { <-gate }}), MaxQueueSize: 1}, gateway.Options{})
	c := join(t, r)
	c.do(callOf(generate("first", prompt(5, 1), 3)))
	waiting := func(id string) *messages.Call {
		m := generate(id, prompt(5, 1), 3)
		m.Request.Wait = true
		return callOf(m)
	}
	one, two := c.send(waiting("a")), c.send(waiting("a"))
	c.tell(&messages.Drop{Number: one})
	gone := []uint64{c.send(waiting("b")), c.send(waiting("b"))}
	for _, n := range gone {
		c.tell(&messages.Drop{Number: n})
	}
	for _, n := range gone {
		if err := convert.ErrorOf(c.reply(n, 0).Error); !is(err, context.Canceled) {
			t.Errorf("nobody waits for it: %v", err)
		}
	}
	close(gate)
	if a := c.reply(two, 0); a.Error != nil || len(c.whole(a.GetAccepted().GetSequences()[0].Stream).ids) != 3 {
		t.Errorf("%v", a)
	}
}

// One certificate does not have all places, nor all memory.
func TestIdentitiesAreBounded(t *testing.T) {
	r := echo(t, executor.EchoConfig{}, gateway.Options{Limits: gateway.Limits{IdentityGuests: 3}})
	var err error
	n := 0
	for ; n < 10 && err == nil; n++ {
		err = r.Accept(wire.Peer{ID: fmt.Sprintf("client-number-%04d", n), Identity: "one"})
	}
	if n != 4 || !is(err, convert.ErrLimit) {
		t.Errorf("%d clients, %v", n, err)
	}
	if err := r.Accept(wire.Peer{ID: "client-number-0000", Identity: "one"}); err != nil {
		t.Errorf("one that is there: %v", err)
	}
	if err := r.Accept(wire.Peer{ID: "client-of-another", Identity: "two"}); err != nil {
		t.Error(err)
	}
}

// What all guests have is bounded together, and free when they are gone.
func TestAllBytesAreBounded(t *testing.T) {
	for name, l := range map[string]gateway.Limits{"of an identity": {IdentityBytes: 1 << 20}, "of all": {AllBytes: 1 << 20}} {
		t.Run(name, func(t *testing.T) {
			r := echo(t, executor.EchoConfig{}, gateway.Options{Limits: l})
			c, other := join(t, r), join(t, r)
			file := func(at int) *messages.Call {
				return &messages.Call{What: &messages.Call_AdapterFile{AdapterFile: &messages.AdapterFile{Name: "a", File: "adapter_model.safetensors",
					Size: 4 << 20, Offset: uint64(at), Data: make([]byte, 1<<20)}}}
			}
			c.do(file(0))
			c.ask(file(1 << 20)) // by now the first one counts
			other.fails(askStatus, convert.ErrLimit)
			c.do(&messages.Call{What: &messages.Call_Goodbye{Goodbye: &messages.Goodbye{}}})
			until(t, func() bool { return other.ask(askStatus).Error == nil }, func() string { return "room" })
		})
	}
}

// What would not fit an end is refused before.
func TestTimestampsAreBounded(t *testing.T) {
	r := echo(t, executor.EchoConfig{Blocks: 1 << 15}, gateway.Options{})
	c := join(t, r)
	m := generate("", prompt(5, 1), 400_000)
	m.Request.Timestamps = true
	c.fails(callOf(m), engine.ErrParams)
	m.Request.MaxNewTokens = 3
	if h := c.whole(c.do(callOf(m)).GetAccepted().GetSequences()[0].Stream); len(h.end.TokenNs) != 3 {
		t.Errorf("%v", h.end)
	}
}
