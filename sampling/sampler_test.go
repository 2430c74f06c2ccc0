package sampling

import (
	"errors"
	"math"
	"testing"
)

var inf = float32(math.Inf(1))

// sample draws without a history.
func sample(s *Sampler, logits []float32, p Params, key Key) (int32, float32, error) {
	p.Tell.Logprobs = true
	var d Drawn
	err := s.Sample(logits, &p, History{}, key, &d)
	return d.ID, d.Sampled, err
}

func TestGreedy(t *testing.T) {
	for _, c := range []struct {
		name   string
		logits []float32
		want   int32
	}{
		{"largest", []float32{0, 5, -1}, 1},
		{"lowest id of equals", []float32{1, 3, 3, 2}, 1},
		{"zeros of both signs are equal", []float32{float32(math.Copysign(0, -1)), 0}, 0},
		{"masked", []float32{-inf, -7, -inf}, 1},
		{"all negative", []float32{-3, -2, -2.5}, 1},
		{"last", []float32{1, 2, 3}, 2},
		{"one", []float32{-1}, 0},
		{"largest float", []float32{0, math.MaxFloat32}, 1},
	} {
		s := NewSampler(len(c.logits))
		for _, p := range []Params{{}, {TopP: 0.5}, {Temperature: 2, TopK: 1}, {TopK: 1}} {
			token, logprob, err := sample(s, c.logits, p, Key{Seed: 9})
			if token != c.want || logprob != 0 || err != nil {
				t.Errorf("%s, %+v: token %d, logprob %v, %v; want %d, 0", c.name, p, token, logprob, err, c.want)
			}
		}
	}
}

func TestUnusableRows(t *testing.T) {
	nan := float32(math.NaN())
	for _, logits := range [][]float32{
		{1, nan, 3}, {nan, 1, 2}, {1, 2, nan}, {nan, nan, nan},
		{-inf, -inf, -inf}, {1, inf, 2}, {}, {1, 2}, {1, 2, 3, 4},
	} {
		for _, p := range []Params{{}, {Temperature: 1}, {Temperature: 1, TopK: 2, TopP: 0.5}} {
			if token, _, err := sample(NewSampler(3), logits, p, Key{}); !errors.Is(err, ErrLogits) {
				t.Errorf("%v, %+v: token %d, %v", logits, p, token, err)
			}
		}
	}
}

// Report F2: tiny temperatures and top-p are greedy in effect and never NaN.
func TestTinyTemperatureAndTopP(t *testing.T) {
	logits := []float32{12.0, 11.9, -3, -8, -1}
	s := NewSampler(len(logits))
	for _, p := range []Params{
		{}, {Temperature: 1e-10}, {Temperature: 1e-4}, {Temperature: math.SmallestNonzeroFloat32},
		{Temperature: 1, TopP: 1e-4}, {Temperature: 1, TopP: math.SmallestNonzeroFloat32}, {Temperature: 1, TopK: 1},
	} {
		for i := range 1000 {
			token, logprob, err := sample(s, logits, p, Key{Seed: 3, Position: int32(i)})
			if token != 0 || logprob != 0 || err != nil {
				t.Fatalf("%+v draw %d: token %d, logprob %v, %v", p, i, token, logprob, err)
			}
		}
	}
}

// A draw is a function of its arguments: not of what the Sampler did before.
func TestDrawsAreIndependent(t *testing.T) {
	logits, p := slope(50), Params{Temperature: 1, TopK: 40, TopP: 0.9}
	used := NewSampler(50)
	for i := range 200 {
		key := Key{Seed: uint64(i % 3), Child: int32(i % 2), Position: int32(i)}
		want, wantLog, err := sample(NewSampler(50), logits, p, key)
		if err != nil {
			t.Fatal(err)
		}
		if got, gotLog, err := sample(used, logits, p, key); got != want || gotLog != wantLog || err != nil {
			t.Fatalf("%+v: %d %v %v, want %d %v", key, got, gotLog, err, want, wantLog)
		}
	}
}
