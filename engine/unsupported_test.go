package engine

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/sampling"
)

func TestUnsupported(t *testing.T) {
	yes, half := true, 0.5
	others := []string{"epsilon_cutoff", "num_beams"}
	for _, c := range []struct {
		model checkpoint.Generation
		want  string
	}{
		{checkpoint.Generation{}, ""},
		{checkpoint.Generation{DoSample: &yes, RepetitionPenalty: &half, MinP: &half, TypicalP: &half}, ""},
		{checkpoint.Generation{Other: others}, "num_beams"},
		{checkpoint.Generation{DoSample: &yes, Other: others}, "epsilon_cutoff num_beams"},
	} {
		if got := strings.Join(Unsupported(c.model), " "); got != c.want {
			t.Errorf("%+v: %q, want %q", c.model, got, c.want)
		}
	}
}

func TestRecommended(t *testing.T) {
	yes, no, hot, half, seven, big := true, false, 1.5, 0.5, 7, 1<<40
	words := [][]int32{{1, 2}}
	for name, c := range map[string]struct {
		model checkpoint.Generation
		want  sampling.Params
	}{
		"nothing said":            {checkpoint.Generation{}, sampling.Params{}},
		"numbers without a wish":  {checkpoint.Generation{Temperature: &hot, MinP: &half}, sampling.Params{}},
		"greedy with penalties":   {checkpoint.Generation{DoSample: &no, TopK: &seven, RepetitionPenalty: &hot, NoRepeatNgram: &seven, BadWords: words}, sampling.Params{RepetitionPenalty: 1.5, NoRepeatNgram: 7, BadWords: words}},
		"sampling":                {checkpoint.Generation{DoSample: &yes}, sampling.Params{Temperature: 1}},
		"all said":                {checkpoint.Generation{DoSample: &yes, Temperature: &hot, TopK: &seven, TopP: &half, MinP: &half, TypicalP: &half}, sampling.Params{Temperature: 1.5, TopK: 7, TopP: 0.5, MinP: 0.5, TypicalP: 0.5}},
		"as many as there can be": {checkpoint.Generation{DoSample: &yes, TopK: &big}, sampling.Params{Temperature: 1, TopK: 1<<31 - 1}},
	} {
		if got, err := Recommended(c.model); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	minus, cold := -3, 5.0
	for _, g := range []checkpoint.Generation{{DoSample: &yes, Temperature: &cold}, {DoSample: &yes, TopK: &minus}} {
		if _, err := Recommended(g); !errors.Is(err, sampling.ErrParams) || !errors.Is(err, ErrRecommended) {
			t.Errorf("%+v: %v", g, err)
		}
	}
}
