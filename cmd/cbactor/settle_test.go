package main

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cbactor/cbactor/cmd/cbactor/internal/requests"
	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/texts"
	"github.com/cbactor/cbactor/sampling"
	"github.com/cbactor/cbactor/text"
)

// everyFlag says each setting once.
var everyFlag = strings.Fields(`--max-new-tokens 3 --min-new-tokens 2 --stop-ids 5,6 --temperature 0.5 --top-k 4 --top-p 0.5
	--min-p 0.25 --typical-p 0.75 --repetition-penalty 1.5 --presence-penalty 1 --frequency-penalty -1 --no-repeat-ngram 3
	--bad-words-ids 7,8 --bad-words-ids 9 --allowed-ids 1,2 --allowed-ids 3 --logit-bias 1=2,3=-4 --logprobs 5 --prompt-logprobs --kept-tokens
	--timestamps --n 2 --priority -3 --timeout 2s --first-token-timeout 1s`)

// everyKey is the same as a line.
const everyKey = `{"prompt_ids":[1],"max_new_tokens":3,"min_new_tokens":2,"stop_ids":[5,6],"temperature":0.5,"top_k":4,"top_p":0.5,
	"min_p":0.25,"typical_p":0.75,"repetition_penalty":1.5,"presence_penalty":1,"frequency_penalty":-1,"no_repeat_ngram":3,
	"bad_words":[[7,8],[9]],"allowed_ids":[1,2,3],"logit_bias":{"1":2,"3":-4},"logprobs":5,"prompt_logprobs":true,"kept_tokens":true,
	"timestamps":true,"n":2,"priority":-3,"timeout":"2s","first_token_timeout":"1s"}`

// line reads the settings of a line of a file of requests, over flags.
func line(t *testing.T, s string, flags ...string) requests.Settings {
	t.Helper()
	r, err := requests.NewReader(strings.NewReader(strings.ReplaceAll(s, "\n", " ")), "f", parsed(t, flags...)).Next()
	if err != nil {
		t.Fatal(err)
	}
	return r.Settings
}

// Every setting reaches the request, from flags and from a line alike.
func TestEverySetting(t *testing.T) {
	want := texts.Request{StopIDs: []int32{5, 6}, Prompt: texts.Prompt{IDs: []int32{1}}, Request: engine.Request{
		ID: "a", MaxNewTokens: 3, N: 2, Priority: -3,
		Deadline: 2 * time.Second, FirstToken: time.Second, Timestamps: true,
		Sampling: sampling.Params{
			Bias: []sampling.Bias{{ID: 1, Value: 2}, {ID: 3, Value: -4}}, RepetitionPenalty: 1.5, PresencePenalty: 1, FrequencyPenalty: -1,
			NoRepeatNgram: 3, BadWords: [][]int32{{7, 8}, {9}}, MinNew: 2, Allowed: []int32{1, 2, 3},
			Temperature: 0.5, TopK: 4, TopP: 0.5, MinP: 0.25, TypicalP: 0.75,
			Tell: sampling.Tell{Logprobs: true, Top: 5, Kept: true, Prompt: true},
		},
	}}
	m := maker{model: &generator{}}
	for name, s := range map[string]requests.Settings{
		"flags": parsed(t, everyFlag...),
		"line":  line(t, everyKey),
		"both":  line(t, everyKey, "--n", "5", "--temperature", "1", "--bad-words", "x", "--stop-ids", "9"),
	} {
		if j := m.job("a", texts.Prompt{IDs: []int32{1}}, s); j.bad != nil || !reflect.DeepEqual(j.request, want) {
			t.Errorf("%s: %v\n got %+v\nwant %+v", name, j.bad, j.request, want)
		}
	}
	for _, s := range requests.All() { // none is forgotten here but those that need a tokenizer or an adapter, and those that are the opposite
		if slices.Contains([]string{"adapter", "stop", "include_stop", "bad_words", "ignore_eos", "score", "seed"}, s.Name) {
			continue
		}
		if s.Name != "" && !strings.Contains(everyKey, `"`+s.Name+`"`) || !slices.Contains(everyFlag, "--"+s.Flag) {
			t.Errorf("%s is not tested", s.Name)
		}
	}
}

func TestLineOverFlags(t *testing.T) {
	m := maker{model: &generator{}}
	flags := []string{"--max-new-tokens", "10", "--temperature", "1", "--top-p", "0.5", "--stop-ids", "5", "--stop", "x", "--stop", "y", "--logprobs", "3"}
	seed, none := uint64(9), []string{}
	for s, want := range map[string]texts.Request{
		`{"prompt_ids":[1]}`: {StopIDs: []int32{5}, Request: engine.Request{MaxNewTokens: 10, Sampling: sampling.Params{Temperature: 1, TopP: 0.5, Tell: sampling.Tell{Logprobs: true, Top: 3}}}},
		`{"prompt_ids":[1],"max_new_tokens":3,"temperature":0.25,"top_k":4,"seed":9,"ignore_eos":true,"stop_ids":[],"logprobs":-1}`: {
			StopIDs: []int32{}, Request: engine.Request{MaxNewTokens: 3, IgnoreEOS: true, Seed: &seed, Sampling: sampling.Params{Temperature: 0.25, TopK: 4, TopP: 0.5}}},
		`{"prompt_ids":[1],"ignore_eos":true,"logprobs":0,"stop":[]}`: {StopIDs: []int32{5}, Stop: none,
			Request: engine.Request{MaxNewTokens: 10, IgnoreEOS: true, Sampling: sampling.Params{Temperature: 1, TopP: 0.5, Tell: sampling.Tell{Logprobs: true}}}},
		`{"prompt_ids":[1],"stop":"z","include_stop":true}`: {StopIDs: []int32{5}, Stop: []string{"z"}, KeepStop: true,
			Request: engine.Request{MaxNewTokens: 10, Sampling: sampling.Params{Temperature: 1, TopP: 0.5, Tell: sampling.Tell{Logprobs: true, Top: 3}}}},
		`{"prompt_ids":[1],"score":true,"prompt_logprobs":true}`: {StopIDs: []int32{5}, Request: engine.Request{Score: true,
			Sampling: sampling.Params{Temperature: 1, TopP: 0.5, Tell: sampling.Tell{Logprobs: true, Top: 3, Prompt: true}}}},
	} {
		want.ID, want.Prompt.IDs, want.N = "a", []int32{1}, 1
		if want.Stop == nil {
			want.Stop = []string{"x", "y"}
		}
		if j := m.job("a", texts.Prompt{IDs: []int32{1}}, line(t, s, flags...)); j.bad != nil || !reflect.DeepEqual(j.request, want) {
			t.Errorf("%s: %v\n got %+v\nwant %+v", s, j.bad, j.request, want)
		}
	}
	_, err := requests.NewReader(strings.NewReader(`{"prompt_ids":[1],"max_new_tokens":3}`), "f", parsed(t, "--score")).Next()
	if err == nil || !strings.Contains(err.Error(), "score and max_new_tokens 3 are given") {
		t.Errorf("tokens to generate of a prompt that is scored: %v", err)
	}
}

// Forbidden texts and ids go their own ways.
func TestBadWordsOfAJob(t *testing.T) {
	m := maker{model: &generator{recommended: sampling.Params{BadWords: [][]int32{{9}}}}}
	for flags, want := range map[string]texts.Request{
		"":                                     {Request: engine.Request{Sampling: sampling.Params{BadWords: [][]int32{{9}}}}},
		"--bad-words girl --bad-words-ids 3,4": {Request: engine.Request{Sampling: sampling.Params{BadWords: [][]int32{{3, 4}}}}, BadWords: []string{"girl"}},
	} {
		got := m.settle(parsed(t, strings.Fields(flags)...))
		if !reflect.DeepEqual(got.Sampling.BadWords, want.Sampling.BadWords) || !slices.Equal(got.BadWords, want.BadWords) {
			t.Errorf("%s: %v and %q", flags, got.Sampling.BadWords, got.BadWords)
		}
	}
}

// A model without a tokenizer knows no text to stop at.
func TestTextOfAModelWithoutTokenizer(t *testing.T) {
	m := maker{model: &generator{noText: text.ErrNoTokenizer}}
	for _, flags := range [][]string{{"--stop", "a"}, {"--bad-words", "a"}} {
		if err := m.model.checkText(m.settle(parsed(t, flags...))); !errors.Is(err, text.ErrNoTokenizer) || status(err) != statusUsage {
			t.Errorf("%v: %v", flags, err)
		}
	}
	if err := m.model.checkText(m.settle(parsed(t, "--bad-words-ids", "3", "--stop-ids", "4"))); err != nil {
		t.Error(err)
	}
}
