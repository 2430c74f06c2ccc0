package gateway_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/gateway"
	"github.com/cbactor/cbactor/engine/internal/convert"
	"github.com/cbactor/cbactor/engine/texts"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/internal/wire/wiretest"
	"github.com/cbactor/cbactor/messages"
)

// wordy makes much text of each token.
type wordy struct {
	texts.Service
	bytes int
}

func (w wordy) Generate(ctx context.Context, r texts.Request) (texts.Stream, error) {
	s, err := w.Service.Generate(ctx, r)
	return wordyStream{s, w.bytes}, err
}

type wordyStream struct {
	texts.Stream
	bytes int
}

func (w wordyStream) Recv(ctx context.Context) (texts.Chunk, error) {
	c, err := w.Stream.Recv(ctx)
	for _, id := range c.TokenIDs {
		c.Text += strings.Repeat(string(rune('a'+id%26)), w.bytes)
	}
	return c, err
}

// serveWordy is a rig with so many bytes of text for each token.
func serveWordy(t *testing.T, bytes int) *rig {
	t.Helper()
	r := echo(t, executor.EchoConfig{}, gateway.Options{})
	r.Close()
	g, err := gateway.New(r.engine, wordy{texts.New(r.engine, nil), bytes}, gateway.Options{Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	r.Gateway = g
	return r
}

// Text is told as far as its reader takes it, and, over another connection, from where it has come
// to.
func TestTextHasCredit(t *testing.T) {
	const each, tokens = 64 << 10, 64
	r := serveWordy(t, each)
	c := join(t, r)
	c.manual = true
	m := generate("a", prompt(20, 1), tokens)
	m.Text = true
	stream := c.do(callOf(m)).GetAccepted().GetSequences()[0].Stream
	c.wait(func() bool { return len(c.stream(stream).text) >= 1<<20 }, "text, as much as may be under way")
	until(t, func() bool { return r.engine.Metrics().Open == 0 }, func() string { return "the engine goes on" })
	c.do(askStatus)
	if n := len(c.now(stream).text); n >= 1<<20+256<<10 {
		t.Errorf("%d bytes of text were told, none was taken", n)
	}
	c.take(stream)
	c.wait(func() bool { return len(c.stream(stream).text) >= 2<<20 }, "more text")
	c.cut()
	c.hello()
	first := c.now(stream)
	c.mu.Lock()
	c.stream(stream).end = nil
	c.mu.Unlock()
	c.fails(attach("a", 0), engine.ErrParams) // it was taken
	more := &messages.Attach{Id: "a", Offset: uint32(len(first.ids)), Text: true, TextOffset: uint64(len(first.text) + tokens*each)}
	c.fails(&messages.Call{What: &messages.Call_Attach{Attach: more}}, engine.ErrParams)
	c.mu.Lock()
	c.manual = false
	c.mu.Unlock()
	more.TextOffset = uint64(len(first.text))
	c.do(&messages.Call{What: &messages.Call_Attach{Attach: more}})
	h, want := c.whole(stream), ""
	for _, id := range h.ids {
		want += strings.Repeat(string(rune('a'+id%26)), each)
	}
	if len(h.ids) != tokens || h.text != want {
		t.Errorf("%d tokens and %d bytes of text, want %d and %d", len(h.ids), len(h.text), tokens, len(want))
	}
}

// A connection over which many sequences have much to tell at once is not cut since it is slow.
func TestNewsWaitForTheConnection(t *testing.T) {
	const each, tokens, many = 32 << 10, 30, 40 // 40 MB: beyond what waits to be written
	r := serveWordy(t, each)
	c := join(t, r)
	c.manual = true
	var streams []uint64
	for i := range many {
		m := generate(fmt.Sprint("s", i), prompt(20, i), tokens)
		m.Text = true
		streams = append(streams, c.do(callOf(m)).GetAccepted().GetSequences()[0].Stream)
	}
	until(t, func() bool { return r.engine.Metrics().Open == 0 }, func() string { return "the engine goes on" })
	c.cut()
	proxy := wiretest.NewProxy(t, r.Addr().String())
	if err := c.dial(proxy.Addr()); err != nil {
		t.Fatal(err)
	}
	c.do(hello(1))
	proxy.Freeze(true)
	for i, s := range streams {
		c.from(s, 0)
		c.send(&messages.Call{What: &messages.Call_Attach{Attach: &messages.Attach{Id: fmt.Sprint("s", i), Text: true}}})
	}
	proxy.Freeze(false)
	proxy.Throttle(64 << 20)
	time.Sleep(50 * time.Millisecond)
	for _, s := range streams {
		if h := c.whole(s); len(h.ids) != tokens || len(h.text) != tokens*each {
			t.Errorf("%d tokens, %d bytes", len(h.ids), len(h.text))
		}
	}
	if n := r.Slow(); n != 0 {
		t.Errorf("%d connections were cut", n)
	}
}

// A client that takes nothing does not fill the memory: what it has asked for ends, and others go on.
func TestUnreadIsBounded(t *testing.T) {
	const limit = 8 << 20
	r := echo(t, executor.EchoConfig{Vocab: 2000}, gateway.Options{Limits: gateway.Limits{Unread: limit}})
	c, other := join(t, r), join(t, r)
	c.manual = true
	fat := func() *messages.Call {
		m := generate("", []int32{1, 2, 3}, 400)
		m.Request.Sampling = &messages.Sampling{Temperature: 1, Tell: &messages.Tell{Logprobs: true, Kept: true}}
		return callOf(m)
	}
	little := c.do(callOf(generate("", []int32{1, 2}, 3))).GetAccepted().GetSequences()[0].Stream
	var streams []uint64
	for range 3 {
		a := c.ask(fat())
		if err := convert.ErrorOf(a.Error); is(err, convert.ErrLimit) {
			break
		}
		streams = append(streams, a.GetAccepted().GetSequences()[0].Stream)
	}
	until(t, func() bool { return r.engine.Metrics().Open == 0 }, func() string { return "an end of what nobody takes" })
	c.fails(fat(), convert.ErrLimit)
	if h := other.whole(other.do(fat()).GetAccepted().GetSequences()[0].Stream); len(h.ids) != 400 {
		t.Errorf("the other client has %d tokens, %v", len(h.ids), h.end)
	}
	c.mu.Lock()
	c.manual = false
	c.mu.Unlock()
	failed := 0
	for _, s := range streams {
		c.take(s)
		if h := c.whole(s); is(convert.ErrorOf(h.end.Error), convert.ErrLimit) && h.end.Reason == "failed" {
			failed++
		}
	}
	if failed == 0 {
		t.Error("no request was ended")
	}
	c.take(little)
	if h := c.whole(little); h.end.Reason != "length" {
		t.Errorf("the little one: %v", h.end)
	}
	c.do(fat())
}
