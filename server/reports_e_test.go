package server

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/text"
)

// spelled is the token of these bytes.
func spelled(t *testing.T, codec *text.Codec, bytes string) int32 {
	t.Helper()
	for id := range int32(2048) {
		if string(codec.Spell(id)) == bytes {
			return id
		}
	}
	t.Fatalf("no token is %q", bytes)
	return 0
}

// both is the answer of a script, the same streamed and not.
func both(t *testing.T, script []int32, body object) toldChoice {
	t.Helper()
	r := serveEcho(t, executor.EchoConfig{Blocks: 64}, engine.Config{}, Options{}, script...)
	body["prompt"] = []int32{5}
	whole := r.ask(completionsPath, body).Choices[0]
	if got := r.streamed(completionsPath, body).Choices[0]; got.Text != whole.Text || got.FinishReason != whole.FinishReason || !slices.Equal(got.IDs, whole.IDs) || got.StopReason != whole.StopReason {
		t.Errorf("streamed %+v, else %+v", got, whole)
	}
	return whole
}

// E1: ids whose bytes are no text give the same text whether they come one by one or not.
func TestReportE1InvalidPrefix(t *testing.T) {
	_, codec := tinyModel(t)
	for bytes, want := range map[string]string{
		"\xE2\x28\xA1": "\uFFFD(\uFFFD", "\xE2\x80\x41": "\uFFFDA", "\xF0\x80\x80\x41": "\uFFFD\uFFFD\uFFFDA", "\xED\xA0\x80": "\uFFFD\uFFFD\uFFFD",
	} {
		var script []int32
		for _, b := range []byte(bytes) {
			script = append(script, spelled(t, codec, string([]byte{b})))
		}
		if c := both(t, script, object{"max_tokens": len(script), "ignore_eos": true}); c.Text != want {
			t.Errorf("% X: %q, want %q", bytes, c.Text, want)
		}
	}
	random := rand.New(rand.NewPCG(1, 1))
	script := make([]int32, 64)
	for i := range script {
		script[i] = spelled(t, codec, string([]byte{byte(random.Uint32())}))
	}
	both(t, script, object{"max_tokens": len(script), "ignore_eos": true, "logprobs": 2})
}

// E3: what is held back as the beginning of a stop string comes when the text ends otherwise.
func TestReportE3HeldTail(t *testing.T) {
	_, codec := tinyModel(t)
	a, b, hash := spelled(t, codec, "a"), spelled(t, codec, "b"), spelled(t, codec, "#")
	for reason, script := range map[string][]int32{"stop": {a, b, hash, hash, 0}, "length": {a, b, hash, hash}} {
		if c := both(t, script, object{"stop": []string{"###END"}, "max_tokens": len(script)}); c.Text != "ab##" || c.FinishReason != reason {
			t.Errorf("%s: %q, %s", reason, c.Text, c.FinishReason)
		}
	}
}

// E4: a stop string ends a text wherever tokens begin and end, and nothing of it is told.
func TestReportE4StopAcrossTokens(t *testing.T) {
	_, codec := tinyModel(t)
	var script []int32
	for _, c := range "xABCDy" {
		script = append(script, spelled(t, codec, string(c)))
	}
	for _, c := range []struct {
		stop   any
		text   string
		tokens int
		found  string
	}{
		{"BC", "xA", 4, "BC"}, {[]string{"C", "BC"}, "xA", 4, "BC"}, {[]string{"D", "ABCD"}, "x", 5, "ABCD"},
	} {
		got := both(t, script, object{"stop": c.stop, "max_tokens": 10, "return_token_ids": true})
		if got.Text != c.text || got.FinishReason != "stop" || len(got.IDs) != c.tokens || got.StopReason != c.found {
			t.Errorf("%v: %+v", c.stop, got)
		}
	}
	if got := both(t, script, object{"stop": "BC", "include_stop_str_in_output": true, "max_tokens": 10}); got.Text != "xABC" {
		t.Errorf("with the stop string: %q", got.Text)
	}
	r := serveEcho(t, executor.EchoConfig{Blocks: 64}, engine.Config{}, Options{}, script...)
	for _, e := range r.events(completionsPath, object{"prompt": []int32{5}, "stop": "BC", "max_tokens": 10}) {
		if c := e.Choices[0]; c.Text == "" && c.FinishReason == "" || strings.Contains(c.Text, "B") {
			t.Errorf("an event with %q", c.Text)
		}
	}
}
