package main

import (
	"reflect"
	"testing"

	"github.com/spf13/cobra"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/cmd/cbactor/internal/requests"
	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/sampling"
)

func TestDefaultsOfAModel(t *testing.T) {
	yes, no, hot, half, third, seven, big := true, false, 1.5, 0.5, 0.25, 7, 1<<40
	penalties := checkpoint.Generation{RepetitionPenalty: &hot, NoRepeatNgram: &seven, BadWords: [][]int32{{5}}, MinP: &third, TypicalP: &half}
	sampled := penalties
	sampled.DoSample = &yes
	for name, c := range map[string]struct {
		model checkpoint.Generation
		args  []string
		want  sampling.Params
	}{
		"nothing said":            {checkpoint.Generation{}, nil, sampling.Params{}},
		"numbers without a wish":  {checkpoint.Generation{Temperature: &hot}, nil, sampling.Params{}},
		"greedy":                  {checkpoint.Generation{DoSample: &no, Temperature: &hot}, nil, sampling.Params{}},
		"sampling":                {checkpoint.Generation{DoSample: &yes}, nil, sampling.Params{Temperature: 1}},
		"all said":                {checkpoint.Generation{DoSample: &yes, Temperature: &hot, TopK: &seven, TopP: &half}, nil, sampling.Params{Temperature: 1.5, TopK: 7, TopP: 0.5}},
		"as many as there can be": {checkpoint.Generation{DoSample: &yes, TopK: &big}, nil, sampling.Params{Temperature: 1, TopK: 1<<31 - 1}},
		"penalties, greedy":       {penalties, nil, sampling.Params{RepetitionPenalty: 1.5, NoRepeatNgram: 7, BadWords: [][]int32{{5}}}},
		"penalties and filters":   {sampled, nil, sampling.Params{Temperature: 1, MinP: 0.25, TypicalP: 0.5, RepetitionPenalty: 1.5, NoRepeatNgram: 7, BadWords: [][]int32{{5}}}},
		"flags over those": {sampled, []string{"--min-p", "0", "--typical-p", "1", "--repetition-penalty", "1", "--no-repeat-ngram", "0", "--bad-words-ids", "6"},
			sampling.Params{Temperature: 1, TypicalP: 1, RepetitionPenalty: 1, BadWords: [][]int32{{6}}}},
		"flags over it":      {checkpoint.Generation{DoSample: &yes, Temperature: &hot, TopP: &half}, []string{"--temperature", "0", "--top-p", "1"}, sampling.Params{TopP: 1}},
		"some flags over it": {checkpoint.Generation{DoSample: &yes, Temperature: &hot, TopP: &half}, []string{"--top-k", "3"}, sampling.Params{Temperature: 1.5, TopK: 3, TopP: 0.5}},
	} {
		m := maker{model: &generator{}, settings: parsed(t, c.args...)}
		var err error
		if m.model.recommended, err = engine.Recommended(c.model); err != nil {
			t.Fatal(err)
		}
		if r := m.settle(m.settings); !reflect.DeepEqual(r.Sampling, c.want) || r.MaxNewTokens != 256 {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// parsed are the settings of a command line.
func parsed(t *testing.T, args ...string) (s requests.Settings) {
	t.Helper()
	cmd := &cobra.Command{Use: "x"}
	addSettings(cmd, &s)
	if err := cmd.Flags().Parse(args); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestHowTokensAreDrawn(t *testing.T) {
	hot := sampling.Params{Temperature: 0.7, TopK: 40, TopP: 0.9}
	for _, c := range []struct {
		params      sampling.Params
		overridable bool
		want        string
	}{
		{sampling.Params{}, false, "greedy"},
		{sampling.Params{Temperature: 1, TopK: 1}, false, "greedy"},
		{sampling.Params{}, true, "greedy where a request says nothing else; --seed 9 repeats it"},
		{sampling.Params{Temperature: 1, TopP: 1}, false, "temperature 1; --seed 9 repeats it"},
		{hot, false, "temperature 0.7, top-k 40, top-p 0.9; --seed 9 repeats it"},
		{sampling.Params{RepetitionPenalty: 1.5, MinP: 0.5, BadWords: [][]int32{{1}}}, false, "greedy, repetition-penalty 1.5, with bad-words"},
	} {
		if got := drawn(c.params, 9, c.overridable); got != c.want {
			t.Errorf("%+v: %q, want %q", c.params, got, c.want)
		}
	}
}
