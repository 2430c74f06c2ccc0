package server

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/executor"
)

// What a stream tells is what the whole answer tells, for all that may be asked for.
func TestCompletionsStreamedEqualsWhole(t *testing.T) {
	r := serveTiny(t, engine.Config{}, Options{})
	for name, body := range map[string]object{
		"greedy":  {"prompt": "Once upon a time", "temperature": 0, "max_tokens": 12},
		"several": {"prompt": []string{"One day", "Lily and Tim"}, "n": 3, "seed": 7, "max_tokens": 8, "return_token_ids": true, "logprobs": 3},
		"ids":     {"prompt": []int32{1, 400, 300}, "seed": -3, "top_p": 0.9, "top_k": 20, "max_tokens": 10, "return_token_ids": true, "return_tokens_as_token_ids": true, "logprobs": 0},
		"echo":    {"prompt": [][]int32{{1, 400}, {500}}, "echo": true, "temperature": 0, "max_tokens": 4, "return_token_ids": true},
		"stop":    {"prompt": "Once upon a time", "temperature": 0, "stop": []string{"girl", "named"}, "max_tokens": 60},
		"biased":  {"prompt": "a", "temperature": 0, "logit_bias": object{"300": 100}, "max_tokens": 3, "return_token_ids": true},
		"shaped":  {"prompt": "a", "seed": 1, "presence_penalty": 1, "frequency_penalty": -1, "repetition_penalty": 1.2, "min_p": 0.01, "bad_words": []string{"girl"}, "min_tokens": 5, "max_tokens": 9},
	} {
		whole, streamed := r.ask(completionsPath, body), r.streamed(completionsPath, body)
		if !reflect.DeepEqual(whole.Choices, streamed.Choices) {
			t.Errorf("%s: %+v, streamed %+v", name, whole.Choices, streamed.Choices)
		}
		if whole.Object != "text_completion" || whole.Model != "tiny" || !strings.HasPrefix(whole.ID, "cmpl-") || whole.Created == 0 || whole.Usage == nil {
			t.Errorf("%s: %+v", name, whole)
		}
	}
}

// Each field does what it is for.
func TestCompletionsFields(t *testing.T) {
	r := serveTiny(t, engine.Config{}, Options{})
	greedy := object{"prompt": "Once upon a time", "temperature": 0, "max_tokens": 12, "return_token_ids": true}
	base := r.ask(completionsPath, greedy).Choices[0]
	with := func(key string, v any) toldChoice {
		body := object{key: v}
		for k, v := range greedy {
			if _, own := body[k]; !own {
				body[k] = v
			}
		}
		return r.ask(completionsPath, body).Choices[0]
	}
	if want := r.codec.Encode("Once upon a time"); !slices.Equal(base.PromptIDs, want) || len(base.IDs) != 12 || base.Text != r.codec.Decode(base.IDs) || base.FinishReason != "length" {
		t.Errorf("%+v", base)
	}
	if c := with("stop_token_ids", base.IDs[3:4]); len(c.IDs) > 4 || c.FinishReason != "stop" || c.StopReason != float64(base.IDs[3]) || c.Text != r.codec.Decode(base.IDs[:len(c.IDs)-1]) {
		t.Errorf("stop_token_ids: %+v", c)
	}
	if c := with("allowed_token_ids", []int32{300, 301}); slices.ContainsFunc(c.IDs, func(id int32) bool { return id != 300 && id != 301 }) {
		t.Errorf("allowed_token_ids: %v", c.IDs)
	}
	if c := with("logit_bias", object{"300": 100}); !slices.Equal(c.IDs, slices.Repeat([]int32{300}, 12)) {
		t.Errorf("logit_bias: %v", c.IDs)
	}
	if c := with("timeout", 0.001); c.FinishReason != "deadline" && c.FinishReason != "length" {
		t.Errorf("timeout: %+v", c)
	}
	if one, two := with("temperature", 1.5), with("temperature", 1.5); slices.Equal(one.IDs, two.IDs) {
		t.Errorf("without a seed twice %v", one.IDs)
	}
	ended := r.ask(completionsPath, object{"prompt": []int32{5}, "logit_bias": object{"0": 100}, "temperature": 0, "max_tokens": 5, "return_token_ids": true}).Choices[0]
	if ended.FinishReason != "stop" || ended.StopReason != nil || ended.Text != "" || !slices.Equal(ended.IDs, []int32{0}) {
		t.Errorf("the model's end: %+v", ended)
	}
	for key, v := range map[string]any{"ignore_eos": true, "min_tokens": 5} {
		body := object{"prompt": []int32{5}, "logit_bias": object{"0": 100}, "temperature": 0, "max_tokens": 5, "return_token_ids": true, key: v}
		if c := r.ask(completionsPath, body).Choices[0]; len(c.IDs) != 5 || c.FinishReason != "length" {
			t.Errorf("%s: %+v", key, c)
		}
	}
}

// Log-probabilities stand in lists of the same length, those of the prompt too.
func TestCompletionsLogprobs(t *testing.T) {
	r := serveTiny(t, engine.Config{}, Options{})
	prompt := "Once upon a time"
	ids := r.codec.Encode(prompt)
	c := r.ask(completionsPath, object{"prompt": prompt, "echo": true, "logprobs": 2, "temperature": 0, "max_tokens": 3, "n": 2}).Choices
	for _, c := range c {
		l := c.Logprobs
		if n := len(ids) + 3; len(l.Tokens) != n || len(l.Own) != n || len(l.Top) != n || len(l.Offsets) != n {
			t.Fatalf("%d tokens have %+v", n, l)
		}
		if !strings.HasPrefix(c.Text, prompt) || l.Own[0] != nil || l.Top[0] != nil || l.Own[1] == nil || *l.Own[1] >= 0 {
			t.Errorf("%+v", c)
		}
		if got := strings.Join(l.Tokens[1:], ""); got != c.Text { // the first is the start token, which is not shown
			t.Errorf("tokens %q of %q", got, c.Text)
		}
		if l.Offsets[0] != 0 || l.Offsets[1] != 0 {
			t.Errorf("the start token, which is not shown, is at %d, the next one at %d", l.Offsets[0], l.Offsets[1])
		}
		for i, token := range l.Tokens[1:] {
			if at := l.Offsets[i+1]; !strings.HasPrefix(c.Text[at:], token) {
				t.Errorf("%q is not at %d of %q", token, at, c.Text)
			}
		}
		for i, top := range l.Top[1:] {
			if n := len(top); n < 2 || n > 3 || top[l.Tokens[i+1]] != *l.Own[i+1] {
				t.Errorf("token %d, %q: %v", i+1, l.Tokens[i+1], top)
			}
		}
	}
	own := r.ask(completionsPath, object{"prompt": ids, "logprobs": 0, "temperature": 0, "max_tokens": 3}).Choices[0].Logprobs
	if !reflect.DeepEqual(own.Own, c[0].Logprobs.Own[len(ids):]) {
		t.Errorf("alone %v, behind the prompt %v", own.Own, c[0].Logprobs.Own[len(ids):])
	}
	scored := r.ask(completionsPath, object{"prompt": ids, "logprobs": 1, "echo": true, "max_tokens": 0})
	if l := scored.Choices[0].Logprobs; len(l.Tokens) != len(ids) || !reflect.DeepEqual(l.Own, c[0].Logprobs.Own[:len(ids)]) || scored.Usage.Details.Cached != 0 {
		t.Errorf("%+v, %+v", l, scored.Usage)
	}
	named := r.ask(completionsPath, object{"prompt": ids, "logprobs": 1, "max_tokens": 1, "return_token_ids": true, "return_tokens_as_token_ids": true}).Choices[0]
	byIDs := r.ask(completionsPath, object{"prompt": prompt, "echo": true, "logprobs": 2, "temperature": 0, "max_tokens": 3, "return_tokens_as_token_ids": true}).Choices[0].Logprobs
	if !slices.Equal(byIDs.Offsets, c[0].Logprobs.Offsets) {
		t.Errorf("by ids the offsets are %v, by texts %v", byIDs.Offsets, c[0].Logprobs.Offsets)
	}
	if !strings.HasPrefix(named.Logprobs.Tokens[0], "token_id:") {
		t.Errorf("%v", named.Logprobs.Tokens)
	}
	r.refused(completionsPath, object{"prompt": "a", "echo": true, "logprobs": 1, "stream": true}, 400, "echo", "invalid_value")
}

// A salt keeps caches apart; users only where the server shall.
func TestSalt(t *testing.T) {
	for _, byUser := range []bool{false, true} {
		r := serveEcho(t, executor.EchoConfig{Blocks: 64}, engine.Config{}, Options{SaltByUser: byUser})
		cached := func(key, v string) int {
			return r.ask(completionsPath, object{"prompt": count(40), "max_tokens": 1, key: v}).Usage.Details.Cached
		}
		userTwice := 32
		if got := cached("x", "x"); got != 0 {
			t.Errorf("at first %d cached", got)
		}
		if got := cached("user", "a"); (got == 0) != byUser {
			t.Errorf("by user %t: %d cached of another one", byUser, got)
		}
		for _, c := range []struct {
			key, v string
			want   int
		}{{"cache_salt", "a", 0}, {"cache_salt", "b", 0}, {"cache_salt", "a", 32}, {"user", "a", userTwice}} {
			if got := cached(c.key, c.v); got != c.want {
				t.Errorf("by user %t, %s %s: %d cached, want %d", byUser, c.key, c.v, got, c.want)
			}
		}
	}
}
