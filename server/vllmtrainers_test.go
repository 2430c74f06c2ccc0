package server

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/engine"
)

// What TRL's synchronous trainers send to /v1/completions: they read lists of the same length,
// prompt by prompt, and tokens by their ids.
func TestCompletionsAsTRLAsks(t *testing.T) {
	r := serveTiny(t, engine.Config{}, Options{})
	prompts := [][]int32{r.codec.Encode("Once upon a time"), r.codec.Encode("One day")}
	const n = 3
	for _, top := range []int{0, 2} {
		a := r.ask(completionsPath, object{
			"model": "tiny", "prompt": prompts, "return_token_ids": true, "return_tokens_as_token_ids": true, "n": n, "repetition_penalty": 1.0,
			"temperature": 1.0, "top_p": 1.0, "top_k": 0, "min_p": 0.0, "max_tokens": 8, "logprobs": top, "structured_outputs": nil,
			"seed": 7, // which they do not send: with it nobody ends early
		})
		if len(a.Choices) != n*len(prompts) {
			t.Fatalf("%d choices", len(a.Choices))
		}
		for i, c := range a.Choices {
			if c.Index != i || !slices.Equal(c.PromptIDs, prompts[i/n]) || len(c.IDs) != 8 {
				t.Fatalf("choice %d: %+v", i, c)
			}
			l := c.Logprobs
			if len(l.Tokens) != 8 || len(l.Own) != 8 || len(l.Top) != 8 {
				t.Fatalf("choice %d: %+v", i, l)
			}
			for at, id := range c.IDs {
				key := fmt.Sprintf("token_id:%d", id)
				if l.Tokens[at] != key || l.Top[at][key] != *l.Own[at] || len(l.Top[at]) < max(1, top) || len(l.Top[at]) > top+1 {
					t.Errorf("choice %d, token %d: %s %v", i, at, l.Tokens[at], l.Top[at])
				}
			}
		}
	}
}

// What its asynchronous one sends for each turn, and that a retry of it does no harm.
func TestCompletionsAsAsyncTRLAsks(t *testing.T) {
	r := serveTiny(t, engine.Config{}, Options{})
	body := object{"model": "tiny", "prompt": r.codec.Encode("One day"), "max_tokens": 6, "temperature": 1.0, "top_p": 1.0, "top_k": 0,
		"repetition_penalty": 1.0, "n": 1, "return_token_ids": true, "logprobs": 0, "seed": int64(1<<63 - 1)}
	one, two := r.ask(completionsPath, body).Choices[0], r.ask(completionsPath, body).Choices[0]
	if len(one.IDs) != 6 || len(one.Logprobs.Own) != 6 || !slices.Equal(one.IDs, two.IDs) {
		t.Errorf("%+v, again %+v", one, two)
	}
}

// What AReaL's backend for vLLM sends and reads.
func TestCompletionsAsAReaLAsks(t *testing.T) {
	r := serveTiny(t, engine.Config{}, Options{})
	c := r.ask(completionsPath, object{"top_p": 1.0, "top_k": 100_000_000, "max_tokens": 5, "temperature": 1.0, "stop_token_ids": []int{}, "ignore_eos": false,
		"skip_special_tokens": true, "return_tokens_as_token_ids": true, "logprobs": 0, "use_beam_search": false, "stream": false, "prompt": r.codec.Encode("One day")}).Choices[0]
	if len(c.Logprobs.Tokens) == 0 || len(c.Logprobs.Tokens) != len(c.Logprobs.Own) || c.FinishReason == "" {
		t.Errorf("%+v", c)
	}
	for _, token := range c.Logprobs.Tokens {
		if !strings.HasPrefix(token, "token_id:") {
			t.Errorf("%q", token)
		}
	}
}
