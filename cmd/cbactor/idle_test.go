package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/engine/texts"
	"github.com/cbactor/cbactor/text"
)

// What has no effect is told by its name, with why; what has one is not told.
func TestSettingsWithoutEffect(t *testing.T) {
	const (
		greedy = " without effect: the request is greedy, with temperature 0 or top_k 1"
		same   = " without effect: a greedy request has the same text each time"
		scored = " without effect: nothing is generated to score a prompt"
		json   = " without effect: it is told in JSON alone, give --json"
	)
	tiny := tinyGenerator(t)
	for _, c := range []struct {
		flags string
		want  []string
	}{
		{"", nil},
		{"--temperature 1 --top-k 3 --top-p 0.5 --min-p 0.1 --typical-p 0.5 --n 2 --stop a --include-stop --logprobs 1", nil},
		{"--top-k 3 --top-p 0.5 --min-p 0.1 --typical-p 0.5", []string{"--top-k, --top-p, --min-p, --typical-p" + greedy}},
		{"--top-k 1 --top-p 1 --min-p 0 --typical-p 0 --n 1 --priority 0 --include-stop=false --logprobs -1", nil},
		{"--temperature 1 --top-k 1 --n 2", []string{"--n" + same}},
		{"--priority -5", []string{"--priority without effect: the order is not by priority, give --scheduler-type priority"}},
		{"--kept-tokens", nil},
		{"--stop a<|end>", nil},
		{"--stop a<|im_end|>", []string{"--stop without effect: it spells a special token, which is not shown and so not found: give its id as stop_ids"}},
		{"--score --prompt-logprobs --logprobs 3 --timestamps", nil},
		{"--score --logprobs 3 --stop a --stop-ids 3 --kept-tokens --temperature 1 --bad-words a --repetition-penalty 2 --ignore-eos", []string{
			"--temperature, --repetition-penalty, --bad-words, --stop, --stop-ids, --ignore-eos, --kept-tokens, --logprobs" + scored}},
	} {
		m := maker{model: tiny, told: true}
		s := parsed(t, strings.Fields(c.flags)...)
		if got := m.idle(t.Context(), s, m.settle(s), true); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.flags, got, c.want)
		}
	}
	s := parsed(t, "--priority", "1", "--logprobs", "0", "--score", "--prompt-logprobs", "--timestamps")
	m := maker{model: &generator{policy: "priority"}}
	if got, want := m.idle(t.Context(), s, m.settle(s), false), []string{"logprobs, prompt_logprobs, score, timestamps" + json}; !slices.Equal(got, want) {
		t.Errorf("of a line in text: %q, want %q", got, want)
	}
}

// tinyGenerator knows the words of the embedded model, and no engine.
func tinyGenerator(t *testing.T) *generator {
	t.Helper()
	model, err := checkpoint.Open(checkpoint.Embedded)
	if err != nil {
		t.Fatal(err)
	}
	defer model.Close()
	codec, err := text.Load(model)
	if err != nil {
		t.Fatal(err)
	}
	return &generator{Service: texts.New(nil, codec), special: map[string]bool{}}
}
