package texts

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/sampling"
)

// lily is what the embedded model goes on with after "Once upon a time", greedily.
const lily = ", there was a little girl named Lily"

// spawned is a service of the embedded model.
func spawned(t *testing.T) *Local {
	t.Helper()
	model, codec := tiny(t)
	e, err := engine.Spawn(t.Context(), engine.Config{Checkpoint: model, Log: zerolog.Nop(), NumBlocks: 64})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return New(e, codec)
}

func generate(t *testing.T, l *Local, r Request) Stream {
	t.Helper()
	r.Prompt = words("Once upon a time")
	s, err := l.Generate(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// told reads a stream to its end: what its chunks have told, and its output.
func told(t *testing.T, s Stream) (string, *Output) {
	t.Helper()
	var b strings.Builder
	for {
		c, err := s.Recv(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if b.WriteString(c.Text); c.Final != nil {
			if _, err := s.Recv(t.Context()); err != io.EOF {
				t.Errorf("after the end: %v", err)
			}
			return b.String(), c.Final
		}
	}
}

// A stop string ends a request's ids and its text at the same place.
func TestStops(t *testing.T) {
	l := spawned(t)
	ends := func(s string) (last int32) { ids := l.codec.EncodeRaw(s); return ids[len(ids)-1] }
	for name, c := range map[string]struct {
		r             Request
		text, stopped string
	}{
		"none":       {Request{}, lily, ""},
		"one":        {Request{Stop: []string{"never", "girl n"}}, ", there was a little ", "girl n"},
		"kept":       {Request{Stop: []string{"never", "girl n"}, KeepStop: true}, ", there was a little girl n", "girl n"},
		"the longer": {Request{Stop: []string{"little", "a little"}}, ", there was ", "a little"},
		"not there":  {Request{Stop: []string{"Lilian"}}, lily, ""},
		"an id":      {Request{StopIDs: []int32{ends(lily)}}, ", there was a little girl named", ""},
		"both":       {Request{StopIDs: []int32{ends(lily)}, Stop: []string{" named Lily"}}, ", there was a little girl named", ""},
	} {
		c.r.MaxNewTokens = 8
		chunks, out := told(t, generate(t, l, c.r))
		if out.Text != c.text || chunks != c.text || out.Stopped != c.stopped || out.Matched != (c.stopped != "") {
			t.Errorf("%s: %q, in chunks %q, stopped by %q, matched %t", name, out.Text, chunks, out.Stopped, out.Matched)
		}
		whole := generate(t, l, c.r).Wait(t.Context())
		if whole.Text != c.text || whole.Stopped != c.stopped || len(whole.TokenIDs) != len(out.TokenIDs) {
			t.Errorf("%s: waited for it is %q, stopped by %q", name, whole.Text, whole.Stopped)
		}
	}
}

// A stream may be read in part and waited for, or waited for twice.
func TestWaitAfterRecv(t *testing.T) {
	s := generate(t, spawned(t), Request{Request: engine.Request{MaxNewTokens: 8}})
	if _, err := s.Recv(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if out := s.Wait(t.Context()); out.Text != lily {
			t.Errorf("%q", out.Text)
		}
	}
}

// The end of a wait cancels the request, whose text is that of what it has.
func TestWaitCancels(t *testing.T) {
	l := spawned(t)
	s := generate(t, l, Request{Request: engine.Request{IgnoreEOS: true, MaxNewTokens: 400}})
	if _, err := s.Recv(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	out := s.Wait(ctx)
	want, err := l.Decode(t.Context(), out.TokenIDs)
	if err != nil {
		t.Fatal(err)
	}
	if out.FinishReason != engine.FinishCancelled || out.Text != want || want == "" {
		t.Errorf("%s with %q, want %q", out.FinishReason, out.Text, want)
	}
}

// Each sequence of a request has a text of its own.
func TestChildren(t *testing.T) {
	l := spawned(t)
	seed := uint64(3)
	r := Request{Request: engine.Request{ID: "a", N: 3, MaxNewTokens: 12, Seed: &seed, Sampling: sampling.Params{Temperature: 1}}, Stop: []string{"."}}
	first := generate(t, l, r)
	different := map[string]bool{}
	for i, s := range append([]Stream{first}, first.Children()...) {
		chunks, out := told(t, s)
		if out.RequestID != s.ID() || chunks != out.Text {
			t.Errorf("sequence %d is %s and ends as %s, %q in chunks, %q in all", i, s.ID(), out.RequestID, chunks, out.Text)
		}
		different[chunks] = true
	}
	if len(different) != 3 {
		t.Errorf("%d sequences, %d different", 1+len(first.Children()), len(different))
	}
}

// An engine's refusal comes as it is.
func TestEngineRefuses(t *testing.T) {
	_, err := spawned(t).Generate(t.Context(), Request{Prompt: Prompt{IDs: []int32{1 << 20}}})
	if !errors.Is(err, engine.ErrVocab) {
		t.Errorf("%v", err)
	}
}
