package main

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/cmd/cbactor/internal/requests"
	"github.com/cbactor/cbactor/engine"
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
	want := engine.Request{
		ID: "a", PromptIDs: []int32{1}, MaxNewTokens: 3, N: 2, Priority: -3, EOS: []int32{0, 5, 6},
		Deadline: 2 * time.Second, FirstToken: time.Second, Timestamps: true,
		Sampling: sampling.Params{
			Bias: []sampling.Bias{{ID: 1, Value: 2}, {ID: 3, Value: -4}}, RepetitionPenalty: 1.5, PresencePenalty: 1, FrequencyPenalty: -1,
			NoRepeatNgram: 3, BadWords: [][]int32{{7, 8}, {9}}, MinNew: 2, Allowed: []int32{1, 2, 3},
			Temperature: 0.5, TopK: 4, TopP: 0.5, MinP: 0.25, TypicalP: 0.75,
			Tell: sampling.Tell{Logprobs: true, Top: 5, Kept: true, Prompt: true},
		},
	}
	m := maker{model: &loaded{eos: []int32{0}}}
	for name, s := range map[string]requests.Settings{
		"flags": parsed(t, everyFlag...),
		"line":  line(t, everyKey),
		"both":  line(t, everyKey, "--n", "5", "--temperature", "1", "--bad-words", "x", "--stop-ids", "9"),
	} {
		if j := m.job("a", requests.Prompt{IDs: []int32{1}}, s); j.bad != nil || !reflect.DeepEqual(j.request, want) {
			t.Errorf("%s: %v\n got %+v\nwant %+v", name, j.bad, j.request, want)
		}
	}
	for _, s := range requests.All() { // none is forgotten here but those that need a tokenizer, and those that are the opposite
		if slices.Contains([]string{"stop", "include_stop", "bad_words", "ignore_eos", "score", "seed"}, s.Name) {
			continue
		}
		if s.Name != "" && !strings.Contains(everyKey, `"`+s.Name+`"`) || !slices.Contains(everyFlag, "--"+s.Flag) {
			t.Errorf("%s is not tested", s.Name)
		}
	}
}

func TestLineOverFlags(t *testing.T) {
	m := maker{model: &loaded{eos: []int32{0}}}
	flags := []string{"--max-new-tokens", "10", "--temperature", "1", "--top-p", "0.5", "--stop-ids", "5", "--logprobs", "3"}
	seed := uint64(9)
	for s, want := range map[string]engine.Request{
		`{"prompt_ids":[1]}`: {MaxNewTokens: 10, EOS: []int32{0, 5}, Sampling: sampling.Params{Temperature: 1, TopP: 0.5, Tell: sampling.Tell{Logprobs: true, Top: 3}}},
		`{"prompt_ids":[1],"max_new_tokens":3,"temperature":0.25,"top_k":4,"seed":9,"ignore_eos":true,"stop_ids":[],"logprobs":-1}`: {
			MaxNewTokens: 3, IgnoreEOS: true, Seed: &seed, Sampling: sampling.Params{Temperature: 0.25, TopK: 4, TopP: 0.5}},
		`{"prompt_ids":[1],"ignore_eos":true,"logprobs":0}`: {MaxNewTokens: 10, EOS: []int32{5}, Sampling: sampling.Params{Temperature: 1, TopP: 0.5, Tell: sampling.Tell{Logprobs: true}}},
		`{"prompt_ids":[1],"score":true,"prompt_logprobs":true}`: {Score: true, EOS: []int32{0, 5},
			Sampling: sampling.Params{Temperature: 1, TopP: 0.5, Tell: sampling.Tell{Logprobs: true, Top: 3, Prompt: true}}},
	} {
		want.ID, want.PromptIDs, want.N = "a", []int32{1}, 1
		if j := m.job("a", requests.Prompt{IDs: []int32{1}}, line(t, s, flags...)); j.bad != nil || !reflect.DeepEqual(j.request, want) {
			t.Errorf("%s: %v\n got %+v\nwant %+v", s, j.bad, j.request, want)
		}
	}
	_, err := requests.NewReader(strings.NewReader(`{"prompt_ids":[1],"max_new_tokens":3}`), "f", parsed(t, "--score")).Next()
	if err == nil || !strings.Contains(err.Error(), "score and max_new_tokens 3 are given") {
		t.Errorf("tokens to generate of a prompt that is scored: %v", err)
	}
}

// tinyCodec is the tokenizer of the embedded model.
func tinyCodec(t *testing.T) *text.Codec {
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
	return codec
}

// A stop string ends the request's ids and its text at the same place.
func TestStopStringsOfAJob(t *testing.T) {
	m := maker{model: &loaded{codec: tinyCodec(t)}}
	out := m.model.codec.EncodeRaw(", there was a little girl named Lily")
	prompt := requests.Prompt{IDs: []int32{1}}
	for s, want := range map[string]string{
		`{"prompt_ids":[1]}`:                                                            ", there was a little ",
		`{"prompt_ids":[1],"include_stop":true}`:                                        ", there was a little girl n",
		`{"prompt_ids":[1],"stop":"was"}`:                                               ", there ",
		`{"prompt_ids":[1],"stop":["little","a little"]}`:                               ", there was ",
		`{"prompt_ids":[1],"stop":[]}`:                                                  ", there was a little girl named Lily",
		`{"prompt_ids":[1],"stop":[],"stop_ids":[` + fmt.Sprint(out[len(out)-1]) + `]}`: ", there was a little girl named",
	} {
		j := m.job("a", prompt, line(t, s, "--stop", "never", "--stop", "girl n"))
		if j.bad != nil {
			t.Errorf("%s: %v", s, j.bad)
			continue
		}
		n := -1
		if j.request.Stop != nil {
			n = j.request.Stop().Match(out)
		}
		session := j.texts.session()
		session.Push(out)
		session.Finish()
		if session.Text() != want || (n > 0) != (session.Stopped() != "") {
			t.Errorf("%s: %q, want %q; %d ids match", s, session.Text(), want, n)
		}
	}
}

func TestBadWordsOfAJob(t *testing.T) {
	m := maker{model: &loaded{codec: tinyCodec(t)}, settings: parsed(t, "--bad-words", "girl", "--bad-words", " boy", "--bad-words-ids", "3,4")}
	encode := m.model.codec.EncodeRaw
	want := [][]int32{encode("girl"), encode(" girl"), encode(" boy"), {3, 4}}
	if j := m.job("a", requests.Prompt{IDs: []int32{1}}, m.settings); j.bad != nil || !reflect.DeepEqual(j.request.Sampling.BadWords, want) {
		t.Errorf("%v, %v, want %v", j.request.Sampling.BadWords, j.bad, want)
	}
}

// A model without a tokenizer knows no text to stop at.
func TestTextOfAModelWithoutTokenizer(t *testing.T) {
	model := &loaded{noCodec: text.ErrNoTokenizer}
	for _, flags := range [][]string{{"--stop", "a"}, {"--bad-words", "a"}} {
		m := maker{model: model, settings: parsed(t, flags...)}
		j := m.job("a", requests.Prompt{IDs: []int32{1}}, m.settings)
		if !errors.Is(j.bad, text.ErrNoTokenizer) || !badPrompt(j.bad) {
			t.Errorf("%v: %v", flags, j.bad)
		}
	}
}
