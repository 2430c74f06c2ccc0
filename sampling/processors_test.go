package sampling

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// processed is what the processors make of zeros; X is -Inf.
func processed(t *testing.T, p Params, prompt int, ids ...int32) string {
	t.Helper()
	const vocab = 6
	s := NewSampler(vocab)
	// Scratch from an earlier draw must not matter.
	for i := range vocab {
		s.work[i] = 77
		s.kept.ranks = append(s.kept.ranks, 77)
	}
	var d Drawn
	logits := []float32{0, 1, -1, 2, -2, 0}
	if err := s.Sample(logits, &p, History{ids, int32(prompt)}, Key{}, &d); err != nil {
		return err.Error()
	}
	if !slices.Equal(logits, []float32{0, 1, -1, 2, -2, 0}) {
		t.Errorf("%+v changes the row to %v", p, logits)
	}
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(s.work), "[]"), "-Inf", "X")
}

func TestProcessors(t *testing.T) {
	for _, c := range []struct {
		name   string
		p      Params
		prompt int
		ids    []int32
		want   string
	}{
		{"bias", Params{Bias: []Bias{{0, 5}, {3, -4}}}, 1, []int32{3}, "5 1 -1 -2 -2 0"},
		{"repetition: prompt and generated, once each", Params{RepetitionPenalty: 2}, 2, []int32{3, 4, 3, 2, 3}, "0 1 -2 1 -4 0"},
		{"presence: generated only", Params{PresencePenalty: 0.5}, 2, []int32{3, 4, 1, 1}, "0 0.5 -1 2 -2 0"},
		{"frequency: generated only, each time", Params{FrequencyPenalty: 0.5}, 2, []int32{3, 1, 1, 3, 1}, "0 0 -1 1.5 -2 0"},
		{"both", Params{PresencePenalty: 1, FrequencyPenalty: -0.25}, 1, []int32{0, 5, 5}, "0 1 -1 2 -2 -0.5"},
		{"nothing generated", Params{PresencePenalty: 1, FrequencyPenalty: 1}, 2, []int32{3, 3}, "0 1 -1 2 -2 0"},
		{"bigrams", Params{NoRepeatNgram: 2}, 1, []int32{1, 2, 1, 3, 1}, "0 1 X X -2 0"},
		{"trigrams", Params{NoRepeatNgram: 3}, 1, []int32{1, 2, 4, 1, 2}, "0 1 -1 2 X 0"},
		{"unigrams", Params{NoRepeatNgram: 1}, 1, []int32{1, 1, 4}, "0 X -1 2 X 0"},
		{"no n-gram yet", Params{NoRepeatNgram: 3}, 1, []int32{1, 1}, "0 1 -1 2 -2 0"},
		{"overlapping", Params{NoRepeatNgram: 3}, 1, []int32{1, 1, 1}, "0 X -1 2 -2 0"},
		{"bad words", Params{BadWords: [][]int32{{0}, {4, 3}, {1, 4, 5}, {3, 4, 2}}}, 1, []int32{1, 4}, "X 1 -1 X -2 X"},
		{"a bad word that is all of it", Params{BadWords: [][]int32{{1, 4, 5}, {0, 1, 4, 3}}}, 1, []int32{1, 4}, "0 1 -1 2 -2 X"},
		{"too short to end", Params{MinNew: 2, Ends: []int32{3, 0, -1}}, 2, []int32{1, 1, 1}, "X 1 -1 X -2 0"},
		{"long enough to end", Params{MinNew: 2, Ends: []int32{3, 0}, Bias: []Bias{{5, 0}}}, 2, []int32{1, 1, 1, 1}, "0 1 -1 2 -2 0"},
		{"allowed", Params{Allowed: []int32{4, 0, 4}}, 1, []int32{1}, "0 X X X -2 X"},
		{"order: bias, then repetition, then presence", Params{Bias: []Bias{{1, 5}}, RepetitionPenalty: 2, PresencePenalty: 1}, 0, []int32{1}, "0 2 -1 2 -2 0"},
		{"nothing left", Params{Allowed: []int32{1}, NoRepeatNgram: 1}, 1, []int32{1}, "logits are not usable: every one is -Inf after the request's biases, penalties and bans"},
	} {
		if got := processed(t, c.p, c.prompt, c.ids...); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// Report S7: what was generated stays generated when it is computed again: only the
// prompt's length says what is which.
func TestPenaltiesDependOnPromptLength(t *testing.T) {
	p := Params{PresencePenalty: 1}
	if a, b := processed(t, p, 1, 1, 3), processed(t, p, 2, 1, 3); a != "0 1 -1 1 -2 0" || b != "0 1 -1 2 -2 0" {
		t.Errorf("generated: %s, prompt: %s", a, b)
	}
}

// Greedy draws are processed too, and are of the lowest id among equals.
func TestGreedyIsProcessed(t *testing.T) {
	p := Params{Bias: []Bias{{3, -1}}, Tell: Tell{Logprobs: true, Kept: true}}
	var d Drawn
	if err := NewSampler(4).Sample([]float32{0, 1, -1, 2}, &p, History{}, Key{}, &d); err != nil {
		t.Fatal(err)
	}
	if want := float32(-1.4401896); d.ID != 1 || d.Sampled != 0 || math.Abs(float64(d.Raw-want)) > 1e-6 || !slices.Equal(d.Kept, []int32{1}) {
		t.Errorf("%+v", d)
	}
}

type processorFunc func(ids []int32, prompt int, logits []float32) error

func (f processorFunc) Process(ids []int32, prompt int, logits []float32) error {
	return f(ids, prompt, logits)
}

// The caller's code comes last and sees the history and what the others did.
func TestProcessorIsCalledLast(t *testing.T) {
	p := Params{Bias: []Bias{{1, 1}}, Allowed: []int32{1, 2}}
	p.Processor = processorFunc(func(ids []int32, prompt int, logits []float32) error {
		if !slices.Equal(ids, []int32{4, 5, 3}) || prompt != 2 || !slices.Equal(logits, []float32{-inf, 2, -1, -inf, -inf, -inf}) {
			t.Errorf("called with %v, %d, %v", ids, prompt, logits)
		}
		_, _ = append(ids, 9), append(logits, 9) // neither has room for it
		logits[2] = 9
		return nil
	})
	ids := []int32{4, 5, 3, 1}
	if got := processed(t, p, 2, ids[:3]...); got != "X 2 9 X X X" || ids[3] != 1 {
		t.Errorf("%s, ids %v", got, ids)
	}
}

// What the caller's code does wrong fails the draw, and only that.
func TestProcessorFails(t *testing.T) {
	own := errors.New("own")
	set := func(v float32) Processor {
		return processorFunc(func(_ []int32, _ int, logits []float32) error { logits[1] = v; return nil })
	}
	var missing *strictProcessor
	for _, c := range []struct {
		name  string
		f     Processor
		class error
	}{
		{"error", processorFunc(func([]int32, int, []float32) error { return own }), own},
		{"panic", processorFunc(func([]int32, int, []float32) error { panic("mine") }), ErrProcessor},
		{"out of range", processorFunc(func(_ []int32, _ int, logits []float32) error { logits[len(logits)] = 1; return nil }), ErrProcessor},
		{"nil", missing, ErrProcessor},
		{"NaN", set(float32(math.NaN())), ErrLogits},
		{"+Inf", set(inf), ErrLogits},
		{"bans all", processorFunc(func(_ []int32, _ int, logits []float32) error {
			for i := range logits {
				logits[i] = -inf
			}
			return nil
		}), ErrLogits},
	} {
		for _, temperature := range []float32{0, 1} {
			s := NewSampler(3)
			p := Params{Temperature: temperature, Processor: c.f}
			var d Drawn
			if err := s.Sample([]float32{1, 2, 3}, &p, History{}, Key{}, &d); !errors.Is(err, ErrProcessor) || !errors.Is(err, c.class) {
				t.Errorf("%s: %v", c.name, err)
			}
			p.Processor = nil
			if err := s.Sample([]float32{1, 2, 3}, &p, History{}, Key{}, &d); err != nil {
				t.Errorf("the draw after %s: %v", c.name, err)
			}
		}
	}
}

type strictProcessor struct{ calls int }

func (p *strictProcessor) Process([]int32, int, []float32) error { p.calls++; return nil }

// Which parameters look at the ids of a sequence.
func TestRemembers(t *testing.T) {
	for _, p := range []Params{
		{RepetitionPenalty: 1.1}, {PresencePenalty: -1}, {FrequencyPenalty: 1}, {NoRepeatNgram: 2}, {BadWords: [][]int32{{1}, {1, 2}}}, {Processor: &strictProcessor{}},
	} {
		if !p.Remembers() {
			t.Errorf("%+v does not", p)
		}
	}
	if p := (Params{RepetitionPenalty: 1, Bias: []Bias{{1, 2}}, BadWords: [][]int32{{1}}, MinNew: 2, Ends: []int32{3}, Temperature: 1}); p.Remembers() {
		t.Errorf("%+v does", p)
	}
}
