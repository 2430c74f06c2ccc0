package sampling

import (
	"errors"
	"math"
	"slices"
	"testing"
)

// Report S8: raw log-probabilities whatever temperature and top-p are, and their
// exponentials sum to 1.
func TestRawLogprobs(t *testing.T) {
	logits := make([]float32, 4)
	for i, p := range []float64{0.5, 0.3, 0.15, 0.05} {
		logits[i] = float32(math.Log(p))
	}
	want := []float64{-0.693147, -1.203973, -1.897120, -2.995732}
	s := NewSampler(4)
	for _, p := range []Params{{}, {Temperature: 1}, {Temperature: 0.3, TopP: 0.5}, {Temperature: 2, TopK: 2}, {Temperature: 1, TopP: 0.01}} {
		p.Tell = Tell{Logprobs: true, Top: 4}
		var d Drawn
		if err := s.Sample(logits, &p, History{}, Key{Seed: 4}, &d); err != nil {
			t.Fatal(err)
		}
		checkTop(t, d, want)
		if math.Abs(float64(d.Raw)-want[d.ID]) > 1e-6 {
			t.Errorf("%+v: token %d has %v", p, d.ID, d.Raw)
		}
		if err := s.Score(logits, 2, 4, &d); err != nil || d.ID != 2 || math.Abs(float64(d.Raw)-want[2]) > 1e-6 || d.Sampled != d.Raw {
			t.Errorf("scored: %+v, %v", d, err)
		}
		checkTop(t, d, want)
	}
}

func checkTop(t *testing.T, d Drawn, want []float64) {
	t.Helper()
	sum := 0.0
	for i, l := range d.Top {
		sum += math.Exp(float64(l.Raw))
		if l.ID != int32(i) || math.Abs(float64(l.Raw)-want[i]) > 1e-6 {
			t.Errorf("number %d is %+v, want %v", i, l, want[i])
		}
	}
	if len(d.Top) != len(want) || math.Abs(sum-1) > 1e-6 {
		t.Errorf("%d tokens, their probabilities sum to %v", len(d.Top), sum)
	}
}

// Both forms in one distribution: by the filters, and -Inf outside of them.
func TestSampledLogprobs(t *testing.T) {
	logits := []float32{1, 3, 2, 3, 0}
	for _, c := range []struct {
		name string
		p    Params
		want []float64 // of the ids 1, 3, 2, 0, which Top has; nil: -Inf
	}{
		{"temperature", Params{Temperature: 2}, []float64{1.5, 1.5, 1, 0.5, 0}},
		{"top-k", Params{Temperature: 1, TopK: 3}, []float64{3, 3, 2}},
		{"two", Params{Temperature: 0.5, TopK: 2}, []float64{6, 6}},
		{"greedy", Params{}, []float64{0}},
		{"behind a bias", Params{Temperature: 1, TopK: 2, Bias: []Bias{{4, -9}, {1, -1}, {2, -3}, {3, -1}}}, []float64{3, 3}},
	} {
		c.p.Tell = Tell{Logprobs: true, Top: 4}
		total := 0.0
		for _, w := range c.want {
			total += math.Exp(w)
		}
		var d Drawn
		if err := NewSampler(5).Sample(logits, &c.p, History{}, Key{Seed: 2}, &d); err != nil {
			t.Fatal(err)
		}
		for i, l := range d.Top {
			want := math.Inf(-1)
			if i < len(c.want) {
				want = c.want[i] - math.Log(total)
			}
			if l.ID != []int32{1, 3, 2, 0}[i] || off(float64(l.Sampled), want) > 1e-6 {
				t.Errorf("%s: number %d is %+v, want %v", c.name, i, l, want)
			}
			if l.ID == d.ID && l != d.Logprob {
				t.Errorf("%s: drawn is %+v, the same in the top %+v", c.name, d.Logprob, l)
			}
		}
	}
}

func TestTop(t *testing.T) {
	for _, c := range []struct {
		name   string
		logits []float32
		top    int32
		want   []int32
	}{
		{"none", []float32{1, 2}, 0, nil},
		{"ties: lowest ids", []float32{1, 2, 1, 2, 2}, 2, []int32{1, 3}},
		{"ties at the border", []float32{1, 2, 1, 2, 2, 1}, 4, []int32{1, 3, 4, 0}},
		{"ties before the larger", []float32{1, 1, 1, 1, 2, 3}, 3, []int32{5, 4, 0}},
		{"fewer than asked", []float32{1, 2}, 50, []int32{1, 0}},
		{"-Inf is nothing", []float32{-inf, 2, -inf, 1}, 3, []int32{1, 3}},
	} {
		d := Drawn{Top: []Logprob{{ID: 99}}, Kept: []int32{7}}
		if err := NewSampler(len(c.logits)).Score(c.logits, 1, c.top, &d); err != nil {
			t.Fatal(err)
		}
		var got []int32
		for _, l := range d.Top {
			got = append(got, l.ID)
		}
		if !slices.Equal(got, c.want) || len(d.Kept) != 1 {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// What is not asked for stays as it was, and draws do not depend on what is asked.
func TestTellChangesNothingElse(t *testing.T) {
	logits, s := slope(100), NewSampler(100)
	h := History{IDs: []int32{5, 6, 7}, Prompt: 1}
	for i := range int32(800) {
		p := [...]Params{
			{Temperature: 1, TopK: 30, TopP: 0.9, RepetitionPenalty: 1.3}, {Temperature: 1}, {Temperature: 1, TopP: 0.9}, {Temperature: 0.7},
		}[i%4]
		before := Drawn{Logprob: Logprob{-1, 3, 4}, Top: []Logprob{{ID: 8}}, Kept: []int32{9}}
		all, none := before, before
		p.Tell = Tell{}
		if err := s.Sample(logits, &p, h, Key{Position: i}, &none); err != nil {
			t.Fatal(err)
		}
		p.Tell = Tell{Logprobs: true, Top: 5, Kept: true}
		if err := s.Sample(logits, &p, h, Key{Position: i}, &all); err != nil {
			t.Fatal(err)
		}
		if none.ID != all.ID || none.Raw != 3 || none.Sampled != 4 || len(none.Top) != 1 || len(none.Kept) != 1 {
			t.Fatalf("asked nothing: %+v, all: %+v", none, all)
		}
		if len(all.Top) != 5 || !slices.Contains(all.Kept, all.ID) || !slices.IsSorted(all.Kept) {
			t.Fatalf("asked all: %+v", all)
		}
	}
}

func TestScoreRefuses(t *testing.T) {
	var d Drawn
	s := NewSampler(3)
	for _, id := range []int32{-1, 3} {
		if err := s.Score([]float32{1, 2, 3}, id, 0, &d); !errors.Is(err, ErrParams) {
			t.Errorf("id %d: %v", id, err)
		}
	}
	for _, logits := range [][]float32{{1, 2}, {1, 2, inf}, {float32(math.NaN()), 1, 2}, {-inf, -inf, -inf}} {
		if err := s.Score(logits, 0, 0, &d); !errors.Is(err, ErrLogits) {
			t.Errorf("%v: %v", logits, err)
		}
	}
	if err := s.Score([]float32{1, -inf, 1}, 1, 0, &d); err != nil || d.Raw != -inf {
		t.Errorf("a token that cannot come: %+v, %v", d, err)
	}
}

// A Softmax of what a row is gives the log-probability that a Sampler tells.
func TestSoftmax(t *testing.T) {
	logits := []float32{1, 4, -2, banned, 3}
	s := NewSampler(len(logits))
	p := Params{Temperature: 0.5, Tell: Tell{Logprobs: true, Top: 5}}
	var d Drawn
	if err := s.Sample(logits, &p, History{}, Key{}, &d); err != nil {
		t.Fatal(err)
	}
	raw, sampled := 0.0, 0.0
	for _, v := range logits {
		raw, sampled = raw+math.Exp(float64(v)-4), sampled+math.Exp((float64(v)-4)/0.5)
	}
	for _, l := range d.Top {
		for _, c := range []struct {
			of   Softmax
			want float32
		}{{Softmax{4, 1, math.Log(raw)}, l.Raw}, {Softmax{4, 0.5, math.Log(sampled)}, l.Sampled}} {
			if got := c.of.Logprob(logits[l.ID]); !(math.Abs(float64(got-c.want)) < 1e-6) {
				t.Errorf("%+v says %v of token %d, want %v", c.of, got, l.ID, c.want)
			}
		}
	}
	for logit, want := range map[float32]float32{banned: banned, math.MaxFloat32: 0, -math.MaxFloat32: -math.MaxFloat32} {
		if got := (&Softmax{Best: 1, Temperature: 0.5}).Logprob(logit); got != want {
			t.Errorf("a logit of %v has log-probability %v, want %v", logit, got, want)
		}
	}
}
