package sampling

import (
	"errors"
	"math"
	"testing"
)

var inf = float32(math.Inf(1))

// sample draws without a history.
func sample(s *Sampler, logits []float32, p Params, key Key) (int32, float32, error) {
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

// 200,000 draws follow the probabilities, which are computed here the plain way.
func TestDistribution(t *testing.T) {
	logits := []float32{1, -2, 0.5, 3, 2.5, -inf, 0, 2.5, -0.25, 1.5}
	for _, c := range []struct {
		name string
		p    Params
		keep []int   // ids kept
		crit float64 // chi-square for p = 0.001 at len(keep)-1 degrees of freedom
	}{
		{"temperature", Params{Temperature: 1}, []int{0, 1, 2, 3, 4, 6, 7, 8, 9}, 26.12},
		{"hot", Params{Temperature: 2}, []int{0, 1, 2, 3, 4, 6, 7, 8, 9}, 26.12},
		{"top-k", Params{Temperature: 0.8, TopK: 4}, []int{3, 4, 7, 9}, 16.27},
		{"top-k with a tie at the border", Params{Temperature: 0.8, TopK: 2}, []int{3, 4, 7}, 13.82},
		{"top-p", Params{Temperature: 1.2, TopP: 0.8}, []int{3, 4, 7, 9}, 16.27},
		{"both", Params{Temperature: 1.5, TopK: 5, TopP: 0.9}, []int{3, 4, 7, 9}, 16.27},
	} {
		t.Run(c.name, func(t *testing.T) { checkDistribution(t, logits, c.p, c.keep, c.crit) })
	}
}

func checkDistribution(t *testing.T, logits []float32, p Params, keep []int, crit float64) {
	const n = 200_000
	total := 0.0
	for _, id := range keep {
		total += math.Exp(float64(logits[id]) / float64(p.Temperature))
	}
	counts := make([]int, len(logits))
	s := NewSampler(len(logits))
	for i := range n {
		id, logprob, err := sample(s, logits, p, Key{Seed: 11, Child: int32(i % 7), Position: int32(i)})
		if err != nil {
			t.Fatal(err)
		}
		want := float64(logits[id])/float64(p.Temperature) - math.Log(total)
		if math.Abs(float64(logprob)-want) > 1e-6 {
			t.Fatalf("token %d has logprob %v, want %v", id, logprob, want)
		}
		counts[id]++
	}
	var kept []int
	var expected []float64
	for _, id := range keep {
		kept = append(kept, counts[id])
		expected = append(expected, n*math.Exp(float64(logits[id])/float64(p.Temperature))/total)
		counts[id] = 0
	}
	for id, c := range counts {
		if c != 0 {
			t.Errorf("token %d was drawn %d times, must never", id, c)
		}
	}
	if x := chiSquare(kept, expected); x > crit {
		t.Errorf("chi-square %.2f, must be below %.2f", x, crit)
	}
}

func TestSampleAllocatesNothing(t *testing.T) {
	logits := slope(1000)
	s := NewSampler(len(logits))
	for _, p := range []Params{{}, {Temperature: 1}, {Temperature: 1, TopK: 40}, {Temperature: 1, TopK: 400, TopP: 0.9}} {
		position := int32(0)
		if n := testing.AllocsPerRun(50, func() {
			position++
			if _, _, err := sample(s, logits, p, Key{Position: position}); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%+v: %v allocations", p, n)
		}
	}
}

// slope is a row of distinct logits in no order, spread as a model's are.
func slope(n int) []float32 {
	logits := make([]float32, n)
	for i := range logits {
		logits[i] = 12 - 30*float32(i*7919%n)/float32(n)
	}
	return logits
}

func BenchmarkSample(b *testing.B) {
	logits := slope(49152)
	s := NewSampler(len(logits))
	for _, c := range []struct {
		name string
		p    Params
	}{
		{"greedy", Params{}}, {"temperature", Params{Temperature: 0.8}}, {"topk", Params{Temperature: 0.8, TopK: 50}},
		{"topp", Params{Temperature: 0.8, TopP: 0.9}}, {"both", Params{Temperature: 0.8, TopK: 50, TopP: 0.9}},
	} {
		b.Run(c.name, func(b *testing.B) {
			position := int32(0)
			for b.Loop() {
				position++
				if _, _, err := sample(s, logits, c.p, Key{Position: position}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
