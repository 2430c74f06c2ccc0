package remote_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/gateway"
	"github.com/cbactor/cbactor/engine/remote"
	"github.com/cbactor/cbactor/engine/texts"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/internal/wire"
	"github.com/cbactor/cbactor/internal/wire/wiretest"
	"github.com/cbactor/cbactor/messages"
	"github.com/cbactor/cbactor/sampling"
	"github.com/cbactor/cbactor/text"
)

// A request that no engine lets through is refused here, and disturbs nothing else.
func TestRequestsOfTooManyParts(t *testing.T) {
	r := serve(t, engine.Config{}, gateway.Options{})
	c := connect(t, r.addr(), remote.Options{})
	s := add(t, c, engine.Request{PromptIDs: prompt(4), MaxNewTokens: 200, IgnoreEOS: true})
	biased := engine.Request{PromptIDs: prompt(4), MaxNewTokens: 2, Sampling: sampling.Params{Bias: make([]sampling.Bias, 70_000)}}
	if _, err := c.AddRequest(t.Context(), biased); !errors.Is(err, engine.ErrParams) {
		t.Errorf("70,000 biases: %v", err)
	}
	for name, q := range map[string]texts.Request{
		"a chat":    {Prompt: texts.Prompt{Messages: slices.Repeat([]text.Message{{Role: "user", Content: "hi"}}, 22_000)}},
		"bad words": {Request: engine.Request{PromptIDs: prompt(4)}, BadWords: make([]string, 70_000)},
	} {
		if _, err := c.Generate(t.Context(), q); !errors.Is(err, engine.ErrParams) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if out := s.Wait(t.Context()); out.FinishReason != engine.FinishLength {
		t.Errorf("%s: %v", out.FinishReason, out.Err)
	}
}

// Of two clients with one id the first ends, and says why. Neither connects again and again.
func TestOneIDForTwo(t *testing.T) {
	t.Parallel()
	r := serveEcho(t, executor.EchoConfig{Blocks: 256, Delay: slowly}, engine.Config{}, gateway.Options{})
	p := wiretest.NewProxy(t, r.addr())
	id := "aaaaaaaaaaaaaaaaaaaaaaaa"
	first := connect(t, p.Addr(), remote.Options{ID: id})
	s := add(t, first, engine.Request{PromptIDs: ids(4, 1), IgnoreEOS: true})
	read(t, s, 3)
	second := connect(t, p.Addr(), remote.Options{ID: id})
	if out := s.Wait(within(t, 10*time.Second)); !errors.Is(out.Err, wire.ErrReplaced) || !errors.Is(out.Err, remote.ErrUnreachable) {
		t.Errorf("%s: %v", out.FinishReason, out.Err)
	}
	for _, c := range []*remote.Client{first, second} { // the first as another one
		if out := add(t, c, engine.Request{PromptIDs: ids(4, 2), MaxNewTokens: 3, IgnoreEOS: true}).Wait(t.Context()); out.FinishReason != engine.FinishLength {
			t.Errorf("%s: %v", out.FinishReason, out.Err)
		}
	}
	until(t, "the connection that was replaced is closed", func() bool { return p.Open() <= 2 })
	if n := p.Cut(); n != 2 {
		t.Errorf("%d connections, want 2", n)
	}
}

// Connections that end at once, whatever for, are not made again at once.
func TestShortConnections(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c := f.connect()
	_, errs := adding(c, t.Context(), engine.Request{ID: "a", PromptIDs: ids(3, 1)})
	f.call()
	begin, cuts := time.Now(), 0
	for ; time.Since(begin) < time.Second; cuts++ {
		f.cut()
		f.call()
	}
	if cuts > 10 {
		t.Errorf("%d connections in a second", cuts)
	}
	f.welcome = proto.CloneOf(f.welcome)
	f.welcome.Protocol = 2
	f.system.Root.Poison(f.client)
	if err := <-errs; !errors.Is(err, remote.ErrProtocol) {
		t.Error(err)
	}
}

// What the engine has no room for is not the end of what is under way.
func TestNoRoomForCalls(t *testing.T) {
	f := newFake(t)
	c := f.connect()
	full := func(call *messages.Call) {
		f.say(&messages.Reply{Number: call.GetNumber(), Error: &messages.Error{Code: "too_much_open"}})
	}
	next := make(chan error, 1)
	streams, _ := adding(c, t.Context(), engine.Request{PromptIDs: ids(3, 1)})
	f.accept(f.call(), 1)
	<-streams
	go func() {
		_, err := c.NextResult(t.Context())
		next <- err
	}()
	full(f.call())
	if err := <-next; !errors.Is(err, remote.ErrLimit) {
		t.Errorf("a result that may come: %v", err)
	}

	done := make(chan error, 1)
	var h engine.Hold
	go func() {
		var err error
		h, err = c.Pause(t.Context(), engine.PauseOptions{})
		done <- err
	}()
	f.say(&messages.Reply{Number: f.call().GetNumber(), What: &messages.Reply_Held{Held: &messages.Held{Hold: 5}}})
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	for _, refused := range []bool{true, false} {
		go func() { done <- h.Release("") }()
		call := f.call()
		if call.GetRelease().GetHold() != 5 {
			t.Fatalf("%v", call)
		}
		if refused {
			full(call)
		} else {
			f.say(&messages.Reply{Number: call.GetNumber()})
		}
		if err := <-done; refused != errors.Is(err, remote.ErrLimit) {
			t.Error(err)
		}
	}
	if err := h.Release(""); err != nil { // it was left
		t.Error(err)
	}
	f.silent()
}
