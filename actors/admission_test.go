package actors

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/sampling"
)

var limits = Limits{Vocab: 100, MaxContext: 64, CacheTokens: 48, MaxOpen: 10}

// What can never be served is refused, with the class and the name of the field.
func TestAdmissionNamesTheField(t *testing.T) {
	ids := []int32{1, 2, 3}
	for name, c := range map[string]struct {
		m    Submit
		want error
		says string
	}{
		"no prompt":              {Submit{}, ErrEmptyPrompt, "one token"},
		"a prompt too long":      {Submit{IDs: make([]int32, 64)}, ErrTooLong, "at most 63"},
		"a text too long":        {Submit{IDs: make([]int32, 65), Score: true}, ErrTooLong, "at most 64"},
		"more than the cache":    {Submit{IDs: make([]int32, 49)}, ErrNeverFits, "holds 48"},
		"an id too large":        {Submit{IDs: []int32{1, 100}}, ErrVocab, "at position 1,"},
		"a negative id":          {Submit{IDs: []int32{-1}}, ErrVocab, "at position 0,"},
		"eos too large":          {Submit{IDs: ids, EOS: []int32{5, 100}}, ErrVocab, "100 in eos"},
		"too many eos":           {Submit{IDs: ids, EOS: make([]int32, 1025)}, ErrParams, "eos has 1025"},
		"negative max_new":       {Submit{IDs: ids, MaxNew: -1}, ErrParams, "max_new_tokens is -1"},
		"priority too high":      {Submit{IDs: ids, Priority: 101}, ErrParams, "priority is 101"},
		"priority too low":       {Submit{IDs: ids, Priority: -101}, ErrParams, "priority is -101"},
		"negative deadline":      {Submit{IDs: ids, Deadline: -1}, ErrParams, "deadline is -1ns"},
		"negative first_token":   {Submit{IDs: ids, FirstToken: -1}, ErrParams, "first_token is -1ns"},
		"score and max_new":      {Submit{IDs: ids, Score: true, MaxNew: 1}, ErrParams, "max_new_tokens is 1"},
		"score and n":            {Submit{IDs: ids, Score: true, Children: make([]Sink, 1)}, ErrParams, "n is 2"},
		"score and first_token":  {Submit{IDs: ids, Score: true, FirstToken: 1}, ErrParams, "first_token is 1ns"},
		"score and min_new":      {Submit{IDs: ids, Score: true, Sampling: sampling.Params{MinNew: 1}}, ErrParams, "min_new_tokens is 1, and at most 0"},
		"min_new above max_new":  {Submit{IDs: ids, MaxNew: 4, Sampling: sampling.Params{MinNew: 5}}, ErrParams, "min_new_tokens is 5, and at most 4"},
		"min_new above the room": {Submit{IDs: ids, Sampling: sampling.Params{MinNew: 47}}, ErrParams, "min_new_tokens is 47, and at most 46"},
		"temperature":            {Submit{IDs: ids, Sampling: sampling.Params{Temperature: float32(math.NaN())}}, ErrParams, "temperature"},
	} {
		s, err := limits.admit(&c.m)
		if !errors.Is(err, c.want) || !errors.Is(err, ErrRejected) || s != nil {
			t.Errorf("%s: %v, want %v", name, err, c.want)
			continue
		}
		if !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %q does not say %q in one line", name, err, c.says)
		}
	}
}

// The bounds themselves are accepted.
func TestAdmissionAtTheBounds(t *testing.T) {
	for name, c := range map[string]struct {
		m      Submit
		maxNew int32
	}{
		"room for one token":       {Submit{IDs: make([]int32, 48)}, 1},
		"more than fits":           {Submit{IDs: make([]int32, 40), MaxNew: 500}, 9},
		"a text that is scored":    {Submit{IDs: make([]int32, 48), Score: true}, 0},
		"min_new is max_new":       {Submit{IDs: make([]int32, 3), MaxNew: 5, Sampling: sampling.Params{MinNew: 5}}, 5},
		"ends that never come":     {Submit{IDs: make([]int32, 3), MaxNew: 5, EOS: []int32{-1, 99}}, 5},
		"the highest priority":     {Submit{IDs: make([]int32, 3), MaxNew: 5, Priority: MaxPriority}, 5},
		"the largest of deadlines": {Submit{IDs: make([]int32, 3), MaxNew: 5, Deadline: math.MaxInt64}, 5},
	} {
		s, err := limits.admit(&c.m)
		if err != nil || s.MaxNew != c.maxNew {
			t.Errorf("%s: %+v, %v, want %d new tokens", name, s, err, c.maxNew)
		}
	}
}

// As long as fewer than MinNew tokens were drawn, nothing that ends the request may
// be: neither its own ends nor what its parameters name.
func TestMinNewKnowsWhatEndsARequest(t *testing.T) {
	ends := []int32{7, 8}
	m := Submit{IDs: []int32{1}, MaxNew: 9, EOS: []int32{-1, 2, 8}, Sampling: sampling.Params{MinNew: 3, Ends: ends[:1:2]}}
	s, err := limits.admit(&m)
	if err != nil {
		t.Fatal(err)
	}
	if want := []int32{2, 8, 7}; !slices.Equal(s.Sampling.Ends, want) || !slices.Equal(s.EOS, []int32{-1, 2, 8, 7}) || ends[1] != 8 {
		t.Errorf("ends are %v, want %v; it ends at %v", s.Sampling.Ends, want, s.EOS)
	}
	m.Sampling.MinNew = 0
	if s, err = limits.admit(&m); err != nil || !slices.Equal(s.Sampling.Ends, ends[:1]) || !slices.Equal(s.EOS, []int32{-1, 2, 8, 7}) {
		t.Errorf("without min_new ends are %v, it ends at %v: %v", s.Sampling.Ends, s.EOS, err)
	}
	for name, m := range map[string]Submit{
		"ends":     {IDs: []int32{1}, Sampling: sampling.Params{Ends: make([]int32, maxEOS+1)}},
		"together": {IDs: []int32{1}, EOS: []int32{-1}, Sampling: sampling.Params{Ends: make([]int32, maxEOS)}},
	} {
		for i := range m.Sampling.Ends {
			m.Sampling.Ends[i] = int32(i)
		}
		if _, err := limits.admit(&m); !errors.Is(err, ErrParams) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
