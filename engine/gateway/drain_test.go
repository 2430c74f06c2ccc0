package gateway_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/gateway"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/messages"
	"github.com/cbactor/cbactor/sampling"
)

// What is drained was read to its end by who is here; who is away, or does not read, is not
// waited for, or for no longer than may be.
func TestDrain(t *testing.T) {
	r := echo(t, executor.EchoConfig{}, gateway.Options{})
	reads, away := join(t, r), join(t, r)
	away.do(callOf(generate("a", prompt(20, 1), 300)))
	away.cut()
	reads.manual = true
	stream := reads.do(callOf(generate("a", prompt(20, 1), 300))).GetAccepted().GetSequences()[0].Stream
	if err := r.engine.Stop(t.Context(), engine.StopOptions{}); err != nil {
		t.Fatal(err)
	}
	drain := func(most time.Duration) time.Duration {
		begin := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), most)
		defer cancel()
		r.Drain(ctx)
		return time.Since(begin)
	}
	if took := drain(50 * time.Millisecond); took < 50*time.Millisecond || took > patience/2 {
		t.Errorf("nothing is read, and it is drained after %v", took)
	}
	drained := make(chan time.Duration, 1)
	go func() { drained <- drain(patience) }()
	for h := reads.now(stream); h.end == nil; h = reads.now(stream) { // what is taken is without the end
		reads.tell(&messages.Ack{Taken: []*messages.Taken{h.taken(stream, len(h.ids))}})
		time.Sleep(time.Millisecond)
	}
	select {
	case <-drained:
		t.Error("it is drained before the end was taken")
		return
	case <-time.After(20 * time.Millisecond):
	}
	reads.take(stream)
	if took := <-drained; took > patience/2 {
		t.Errorf("all is read, and it is drained after %v", took)
	}
}

// Ids are each client's own, and so are the tokens that are drawn by them.
func TestClientsHaveIDsOfTheirOwn(t *testing.T) {
	r := serve(t, engine.Config{Seed: 9, NumBlocks: 64}, gateway.Options{})
	ask := func() *messages.Call {
		m := generate("same", []int32{1, 2, 3}, 100)
		m.Request.Sampling = &messages.Sampling{Temperature: 1}
		return callOf(m)
	}
	one, other := join(t, r), join(t, r)
	calls := []uint64{one.send(ask()), other.send(ask())}
	var tokens [2][]int32
	for i, c := range []*client{one, other} {
		reply := c.reply(calls[i], 0)
		if reply.Error != nil || reply.GetAccepted().GetSequences()[0].Id != "same" {
			t.Fatalf("client %d: %v", i, reply)
		}
		tokens[i] = c.whole(reply.GetAccepted().Sequences[0].Stream).ids
	}
	s, err := r.engine.AddRequest(t.Context(), engine.Request{ID: "same", PromptIDs: []int32{1, 2, 3}, MaxNewTokens: 100, IgnoreEOS: true, Sampling: sampling.Params{Temperature: 1}})
	if err != nil {
		t.Fatal(err)
	}
	want := s.Wait(t.Context()).TokenIDs
	if !slices.Equal(tokens[0], want) || !slices.Equal(tokens[1], want) {
		t.Errorf("%v\nand %v\nwant %v", tokens[0], tokens[1], want)
	}
	one.do(ask())
	stream := other.do(ask()).GetAccepted().GetSequences()[0].Stream
	one.do(&messages.Call{What: &messages.Call_Cancel{Cancel: &messages.Cancel{Id: "same"}}})
	if h := other.whole(stream); h.end.Reason != "length" {
		t.Errorf("another client's cancel: %v", h.end)
	}
}
