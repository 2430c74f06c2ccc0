package requests_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/cmd/cbactor/internal/requests"
	"github.com/cbactor/cbactor/text"
)

// settingsOf reads the settings of a line.
func settingsOf(t *testing.T, keys string) requests.Settings {
	t.Helper()
	got, bad := readAll(t, strings.NewReader(`{"prompt":"a",`+keys+`}`))
	if len(got) != 1 {
		t.Fatalf("%s: %v", keys, bad)
	}
	return got[0].Settings
}

func TestListsOfALine(t *testing.T) {
	for keys, want := range map[string]requests.Settings{
		`"stop":"a"`:                      {Stop: []string{"a"}},
		`"stop":["a","b\u0000"]`:          {Stop: []string{"a", "b\x00"}},
		`"stop":[],"bad_words":[]`:        {Stop: []string{}, BadWords: []requests.Word{}},
		`"stop":null,"logit_bias":null`:   {},
		`"bad_words":["a",[1,2]," b"]`:    {BadWords: []requests.Word{{Text: "a"}, {IDs: []int32{1, 2}}, {Text: " b"}}},
		`"logit_bias":{"5":-1.5,"-1":2}`:  {LogitBias: []requests.Bias{{ID: 5, Value: -1.5}, {ID: -1, Value: 2}}},
		`"logit_bias":{"5":1,"5":2}`:      {LogitBias: []requests.Bias{{ID: 5, Value: 1}, {ID: 5, Value: 2}}}, // for sampling.Params.Check
		`"logit_bias":{}`:                 {LogitBias: []requests.Bias{}},
		`"allowed_ids":[1],"stop_ids":[]`: {AllowedIDs: []int32{1}, StopIDs: []int32{}},
	} {
		if got := settingsOf(t, keys); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", keys, got, want)
		}
	}
}

func TestBadSettingsOfALine(t *testing.T) {
	for keys, want := range map[string]string{
		`"temperature":3`:                  `"temperature" must be a number from 0 to 2`,
		`"stop":5`:                         `"stop" must be a text or a list of texts`,
		`"stop":["a",null]`:                `"stop" must be a text or a list of texts`,
		`"stop":""`:                        `bad stop strings: number 1 is empty, it would end every text at its start`,
		`"bad_words":"a"`:                  `"bad_words" must be a list of texts and lists of token ids, none of them empty`,
		`"bad_words":[""]`:                 `"bad_words" must be a list of texts and lists of token ids, none of them empty`,
		`"bad_words":[[]]`:                 `"bad_words" must be a list of texts and lists of token ids, none of them empty`,
		`"bad_words":[[1.5]]`:              `"bad_words" must be a list of texts and lists of token ids, none of them empty`,
		`"bad_words":[[3000000000]]`:       `"bad_words" must be a list of texts and lists of token ids, none of them empty`,
		`"logit_bias":[1]`:                 `"logit_bias" must be an object such as {"42": -1.5}, of token ids and numbers from -100 to 100`,
		`"logit_bias":{"a":1}`:             `"logit_bias" must be an object such as {"42": -1.5}, of token ids and numbers from -100 to 100`,
		`"logit_bias":{"1":null}`:          `"logit_bias" must be an object such as {"42": -1.5}, of token ids and numbers from -100 to 100`,
		`"logit_bias":{"1":"1"}`:           `"logit_bias" must be an object such as {"42": -1.5}, of token ids and numbers from -100 to 100`,
		`"logit_bias":{"1":-101}`:          `"logit_bias" must be an object such as {"42": -1.5}, of token ids and numbers from -100 to 100`,
		`"allowed_ids":[null]`:             `"allowed_ids" must be a list of token ids`,
		`"timeout":5`:                      `"timeout" must be a time above 0, such as "1.5s" or "2m"`,
		`"timeout":"0s"`:                   `"timeout" must be a time above 0, such as "1.5s" or "2m"`,
		`"n":129`:                          `"n" must be a whole number from 1 to 128`,
		`"logprobs":51`:                    `"logprobs" must be a whole number from -1 to 50`,
		`"score":true,"max_new_tokens":1`:  `score and max_new_tokens 1 are given: nothing is generated to score a prompt, leave one out`,
		`"score":true,"n":2`:               `score and n 2 are given: a prompt has one score, leave one out`,
		`"kept_tokens":true,"logprobs":-1`: `kept_tokens and logprobs -1 are given: kept tokens are told with log-probabilities, leave one out`,
		`"include_stop":true`:              `include_stop is given and no stop: give a stop text to leave in`,
		`"bad-words-ids":[1]`:              `"bad-words-ids" is not known here`,
		`"":1`:                             `"" is not known here`,
	} {
		if _, bad := readAll(t, strings.NewReader(`{"prompt":"a",`+keys+`}`)); len(bad) != 1 || bad[0] != "f:1: "+want {
			t.Errorf("%s: %q, want %q", keys, bad, want)
		}
	}
}

func TestTooManyStops(t *testing.T) {
	s := requests.Settings{Stop: make([]string, text.MaxStops+1)}
	if err := s.Check(); !errors.Is(err, text.ErrStops) {
		t.Error(err)
	}
}
