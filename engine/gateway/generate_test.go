package gateway_test

import (
	"errors"

	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/gateway"
	"github.com/cbactor/cbactor/engine/internal/convert"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/messages"
)

func is(err, want error) bool { return errors.Is(err, want) }

// A client gets what the engine itself would give, sequence by sequence, and says so once.
func TestGenerate(t *testing.T) {
	r := echo(t, executor.EchoConfig{}, gateway.Options{})
	c := join(t, r)
	ids := prompt(50, 1)
	want := r.local(t, ids, 300)
	got := c.do(callOf(generate("a", ids, 300))).GetAccepted()
	if len(got.GetSequences()) != 1 || got.Sequences[0].Id != "a" || got.Prompt != nil {
		t.Fatalf("%v", got)
	}
	h := c.whole(got.Sequences[0].Stream)
	if !slices.Equal(h.ids, want.TokenIDs) || h.end.Reason != "length" || h.end.PromptTokens != 50 || h.end.CreatedNs == 0 || len(h.drawn) != 0 {
		t.Errorf("%d tokens, %d drawn, %v; want %v", len(h.ids), len(h.drawn), h.end, want.TokenIDs)
	}
	if v := convertSpans(t, h.end.WeightVersions); !reflect.DeepEqual(v, want.WeightVersions) || !reflect.DeepEqual(joined(h.versions), want.WeightVersions) {
		t.Errorf("versions %v and %v, want %v", v, h.versions, want.WeightVersions)
	}
	if v := convertSpans(t, h.end.KvVersions); !reflect.DeepEqual(v, want.KVVersions) || h.caches == nil {
		t.Errorf("of the cache %v, told %v, want %v", v, h.caches, want.KVVersions)
	}
	three := generate("", ids, 5)
	three.Request.N = 3
	got = c.do(callOf(three)).GetAccepted()
	if len(got.GetSequences()) != 3 || got.Sequences[2].Id != got.Sequences[0].Id+"/2" {
		t.Fatalf("%v", got)
	}
	for _, s := range got.Sequences {
		if h := c.whole(s.Stream); !slices.Equal(h.ids, want.TokenIDs[:5]) {
			t.Errorf("%s: %v, want %v", s.Id, h.ids, want.TokenIDs[:5])
		}
	}
	r.idle(t)
}

func convertSpans(t *testing.T, list []*messages.Span) []engine.VersionSpan {
	t.Helper()
	out, err := convert.SpansOf(list)
	if err != nil {
		t.Error(err)
	}
	return out
}

// joined are spans without cuts between equal versions, to their end.
func joined(list []engine.VersionSpan) (out []engine.VersionSpan) {
	for _, s := range list {
		if n := len(out); n > 0 && out[n-1].Version == s.Version {
			out[n-1].End = s.End
		} else {
			out = append(out, s)
		}
	}
	if len(out) == 1 { // what is not told is as before
		out[0].End = 300
	}
	return out
}

// Errors of requests cross with their class and words, and what is malformed is refused.
func TestGenerateRefused(t *testing.T) {
	r := echo(t, executor.EchoConfig{}, gateway.Options{})
	c := join(t, r)
	c.fails(callOf(generate("", nil, 1)), engine.ErrEmptyPrompt)
	c.fails(callOf(generate("", prompt(5000, 1), 1)), engine.ErrTooLong)
	c.fails(callOf(generate("", []int32{-1}, 1)), engine.ErrVocab)
	c.fails(callOf(&messages.Generate{}), engine.ErrEmptyPrompt)
	m := generate("", prompt(5, 1), 1)
	m.Request.N = 1000
	c.fails(callOf(m), engine.ErrParams)
	m = generate("", prompt(5, 1), 1)
	m.Request.Kv = 99
	c.fails(callOf(m), engine.ErrParams)
	m = generate("", prompt(5, 1), 1)
	m.Request.Adapter = "none"
	c.fails(callOf(m), engine.ErrUnknownAdapter)
	c.fails(&messages.Call{}, engine.ErrParams)
	c.fails(attach("nobody", 0), engine.ErrUnknownID)
	c.do(&messages.Call{What: &messages.Call_Cancel{Cancel: &messages.Cancel{Id: "nobody"}}})
	r.idle(t)
}

// A request ends by Cancel, a child of it by its own id, and one of another guest does not.
func TestCancel(t *testing.T) {
	r := echo(t, slowEcho(time.Millisecond), gateway.Options{}) // far from its end
	c, other := join(t, r), join(t, r)
	m := generate("a", prompt(20, 1), 0)
	m.Request.N = 2
	list := c.do(callOf(m)).GetAccepted().GetSequences()
	cancel := func(c *client, id string) {
		c.do(&messages.Call{What: &messages.Call_Cancel{Cancel: &messages.Cancel{Id: id}}})
	}
	cancel(other, "a")
	cancel(c, "a/1")
	if h := c.whole(list[1].Stream); h.end.Reason != "cancelled" {
		t.Errorf("the child: %v", h.end)
	}
	if h := c.now(list[0].Stream); h.end != nil && h.end.Reason == "cancelled" {
		t.Errorf("the other sequence: %v", h.end)
	}
	cancel(c, "a")
	if h := c.whole(list[0].Stream); h.end.Reason != "cancelled" && h.end.Reason != "length" {
		t.Errorf("the request: %v", h.end)
	}
	r.idle(t)
}

// Ids are a client's own: another one may have the same, and errors do not tell what the engine
// calls them. Within a client no two sequences have one.
func TestIDsAreTheClients(t *testing.T) {
	r := echo(t, executor.EchoConfig{}, gateway.Options{})
	c, other := join(t, r), join(t, r)
	c.manual = true
	accept := func(c *client, id string, n, of int32) []*messages.Sequence {
		m := generate(id, prompt(20, int(n)), 30)
		m.Request.N = of
		return c.do(callOf(m)).GetAccepted().GetSequences()
	}
	mine := accept(c, "a", 1, 2)
	others := accept(other, "a", 2, 1)
	c.do(&messages.Call{What: &messages.Call_Cancel{Cancel: &messages.Cancel{Id: "a"}}})
	if h := other.whole(others[0].Stream); !slices.Equal(h.ids, r.local(t, prompt(20, 2), 30).TokenIDs) || others[0].Id != "a" {
		t.Errorf("%v of %v", h, others)
	}
	c.whole(mine[1].Stream)
	c.fails(callOf(generate("a/1", prompt(20, 1), 1)), engine.ErrDuplicateID)
	accept(c, "b/2", 1, 1)
	m := generate("b", prompt(20, 1), 1)
	m.Request.N = 3
	c.fails(callOf(m), engine.ErrDuplicateID)
	accept(c, "req-1", 1, 1)
	if got := accept(c, "", 1, 1); got[0].Id != "req-2" {
		t.Errorf("%v", got)
	}
	if e := c.ask(callOf(generate("c", nil, 1))).GetError(); e.GetMessage() != engine.ErrEmptyPrompt.Error()+": give at least one token" {
		t.Errorf("%v", e)
	}
}

// The same request again, by the same number or another one, is generated once; another one
// of its id is refused while it is unread.
func TestRetriesGenerateOnce(t *testing.T) {
	r := echo(t, executor.EchoConfig{}, gateway.Options{})
	c := join(t, r)
	c.manual = true
	m := callOf(generate("a", prompt(20, 1), 5))
	first := c.send(m)
	m.Number = first
	c.tell(m) // the call again
	second := c.send(callOf(generate("a", prompt(20, 1), 5)))
	stream := c.reply(first, 0).GetAccepted().GetSequences()[0].Stream
	if got := c.reply(second, 0).GetAccepted().GetSequences()[0].Stream; got != stream {
		t.Errorf("streams %d and %d", stream, got)
	}
	c.whole(stream)
	c.fails(callOf(generate("a", prompt(20, 2), 5)), engine.ErrDuplicateID)
	if got := c.do(callOf(generate("a", prompt(20, 1), 5))).GetAccepted().GetSequences()[0].Stream; got != stream {
		t.Errorf("after its end it is stream %d, want %d", got, stream)
	}
	if n := r.engine.Metrics().Accepted; n != 1 {
		t.Errorf("%d requests were accepted, want 1", n)
	}
	c.take(stream)
	got := c.do(callOf(generate("a", prompt(20, 1), 5))).GetAccepted().GetSequences()[0].Stream
	if got == stream {
		t.Error("what was read is not forgotten")
	}
	c.whole(got)
	r.idle(t)
}

// A client that takes nothing gets no more than its window, and holds up nobody.
func TestWindow(t *testing.T) {
	r := echo(t, executor.EchoConfig{}, gateway.Options{})
	slow, fast := join(t, r), join(t, r)
	slow.manual = true
	m := generate("", prompt(20, 1), 200)
	m.Window = 10
	stream := slow.do(callOf(m)).GetAccepted().GetSequences()[0].Stream
	slow.wait(func() bool { return len(slow.stream(stream).ids) == 10 }, "a window of tokens")
	want := r.local(t, prompt(20, 1), 200) // another client is served meanwhile
	h := fast.whole(fast.do(callOf(generate("", prompt(20, 1), 200))).GetAccepted().GetSequences()[0].Stream)
	if !slices.Equal(h.ids, want.TokenIDs) {
		t.Error("the other client has other tokens")
	}
	if n := len(slow.now(stream).ids); n != 10 {
		t.Errorf("%d tokens were told with a window of 10", n)
	}
	for slow.now(stream).end == nil {
		before := slow.now(stream).news
		slow.take(stream)
		slow.wait(func() bool { return slow.stream(stream).news > before }, "more")
	}
	if h := slow.now(stream); !slices.Equal(h.ids, want.TokenIDs) {
		t.Errorf("the slow client: %v, want %v", h.ids, want.TokenIDs)
	}
	slow.take(stream)
	r.idle(t)
}

// Limits of a guest are told, and free again when something was read.
func TestSequenceLimit(t *testing.T) {
	r := echo(t, executor.EchoConfig{}, gateway.Options{Limits: gateway.Limits{Sequences: 3}})
	c := join(t, r)
	c.manual = true
	m := generate("", prompt(5, 1), 1)
	m.Request.N = 2
	list := c.do(callOf(m)).GetAccepted().GetSequences()
	for _, s := range list {
		c.whole(s.Stream)
	}
	c.fails(callOf(m), convert.ErrLimit)
	c.take(list[0].Stream)
	c.do(callOf(m))
}

// What is told of tokens and of the prompt is all there, however much it is.
func TestLogprobsAreToldWhole(t *testing.T) {
	r := serve(t, engine.Config{}, gateway.Options{})
	c := join(t, r)
	ids := make([]int32, 400)
	for i := range ids {
		ids[i] = int32(i % 200)
	}
	m := generate("", ids, 40)
	m.Request.Sampling = &messages.Sampling{Temperature: 1, Tell: &messages.Tell{Logprobs: true, Top: 50, Kept: true, Prompt: true}}
	m.Request.Seed = new(uint64(7))
	h := c.whole(c.do(callOf(m)).GetAccepted().GetSequences()[0].Stream)
	if len(h.drawn) != 40 || len(h.prompt) != 399 || len(h.drawn[39].Top) != 50 || h.drawn[0].KeptCount == 0 || h.drawn[39].Id != h.ids[39] {
		t.Errorf("%d of tokens, %d of the prompt", len(h.drawn), len(h.prompt))
	}
	for i, d := range h.prompt {
		if d.Id != ids[i+1] {
			t.Fatalf("of the prompt's token %d there is %d, want %d", i+1, d.Id, ids[i+1])
		}
	}
}

// Prompts, stop strings and results are text where the model has a tokenizer.
func TestText(t *testing.T) {
	r := serve(t, engine.Config{}, gateway.Options{})
	c := join(t, r)
	const words = "Once upon a time"
	m := &messages.Generate{Text: true, Request: &messages.Request{Input: &messages.Request_Prompt{Prompt: words}, MaxNewTokens: 30, IgnoreEos: true}}
	a := c.do(callOf(m)).GetAccepted()
	want := r.local(t, r.codec.Encode(words), 30)
	h := c.whole(a.Sequences[0].Stream)
	if !slices.Equal(a.Prompt.GetIds(), want.PromptIDs) || !slices.Equal(h.ids, want.TokenIDs) || h.text != r.codec.Decode(want.TokenIDs) {
		t.Errorf("%q, want %q", h.text, r.codec.Decode(want.TokenIDs))
	}
	all := []rune(h.text)
	m.Request.Stop = []string{string(all[4:8])}
	h = c.whole(c.do(callOf(m)).GetAccepted().Sequences[0].Stream)
	if h.text != string(all[:4]) || !h.end.Matched || h.end.Stopped != string(all[4:8]) {
		t.Errorf("%q ended by %q, want %q and %q", h.text, h.end.Stopped, string(all[:4]), string(all[4:8]))
	}
	got := c.do(&messages.Call{What: &messages.Call_Encode{Encode: &messages.Encode{Input: &messages.Encode_Text{Text: words}}}}).GetIds().GetIds()
	if back := c.do(&messages.Call{What: &messages.Call_Decode{Decode: &messages.Decode{Ids: got}}}).GetWords().GetText(); back != r.codec.Decode(got) {
		t.Errorf("%q has become %q", words, back)
	}
}
