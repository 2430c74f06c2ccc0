package sampling

import (
	"testing"
	"time"
)

// slope is a row of distinct logits in no order, spread as a model's are.
func slope(n int) []float32 {
	logits := make([]float32, n)
	for i := range logits {
		logits[i] = 12 - 30*float32(i*7919%n)/float32(n)
	}
	return logits
}

// kinds are all kinds of draws, those with a bound on their time first.
func kinds() (k []kind) {
	common := Params{Temperature: 0.8, TopK: 50, TopP: 0.95}
	with := func(change func(p *Params)) Params {
		p := common
		change(&p)
		return p
	}
	return []kind{
		{"greedy", Params{}, 30 * time.Microsecond},
		{"top-k and top-p", common, 120 * time.Microsecond},
		{"temperature", Params{Temperature: 0.8}, 200 * time.Microsecond},
		{"top-k 5000", Params{Temperature: 0.8, TopK: 5000}, 0},
		{"top-p", Params{Temperature: 0.8, TopP: 0.95}, 0},
		{"min-p", Params{Temperature: 0.8, MinP: 0.05}, 0},
		{"typical-p", Params{Temperature: 0.8, TypicalP: 0.9}, 0},
		{"bias", with(func(p *Params) { p.Bias = []Bias{{1, 2}, {5, -3}} }), 0},
		{"penalties", with(func(p *Params) { p.RepetitionPenalty, p.PresencePenalty, p.FrequencyPenalty = 1.2, 0.5, 0.5 }), 0},
		{"n-grams", with(func(p *Params) { p.NoRepeatNgram = 3 }), 0},
		{"bad words", with(func(p *Params) { p.BadWords = [][]int32{{1}, {7, 8}} }), 0},
		{"min new", with(func(p *Params) { p.MinNew, p.Ends = 5000, []int32{2} }), 0},
		{"allowed", with(func(p *Params) { p.Allowed = []int32{5, 9, 800} }), 0},
		{"processor", with(func(p *Params) { p.Processor = new(strictProcessor) }), 0},
		{"log-probabilities", with(func(p *Params) { p.Tell = Tell{Logprobs: true, Top: 50, Kept: true} }), 0},
	}
}

type kind struct {
	name string
	p    Params
	most time.Duration // for 49,152 logits
}

func longHistory() History {
	ids := make([]int32, 2000)
	for i := range ids {
		ids[i] = int32(i * i % 997)
	}
	return History{ids, 500}
}

func TestSampleAllocatesNothing(t *testing.T) {
	logits, h := slope(1000), longHistory()
	s := NewSampler(len(logits))
	for _, k := range kinds() {
		var d Drawn
		key := Key{}
		if n := testing.AllocsPerRun(50, func() {
			key.Position++
			if err := s.Sample(logits, &k.p, h, key, &d); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", k.name, n)
		}
	}
	var d Drawn
	if n := testing.AllocsPerRun(50, func() {
		if err := s.Score(logits, 3, MaxTop, &d); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("score: %v allocations", n)
	}
}

// The best of many draws keeps twice the bound, so that only a slower way fails, not
// a busy machine. BenchmarkSample, which runs alone, has the bound itself.
func TestSpeed(t *testing.T) {
	if raced {
		t.Skip("times mean nothing under the race detector")
	}
	logits := slope(49152)
	s := NewSampler(len(logits))
	for _, k := range kinds() {
		if k.most == 0 {
			continue
		}
		best := time.Hour
		for i := range 200 {
			var d Drawn
			begin := time.Now()
			if err := s.Sample(logits, &k.p, History{}, Key{Position: int32(i)}, &d); err != nil {
				t.Fatal(err)
			}
			best = min(best, time.Since(begin))
		}
		if best > 2*k.most {
			t.Errorf("%s takes %v, must take %v", k.name, best, k.most)
		}
	}
}

// BenchmarkSample fails where a draw takes longer than its bound, on average.
func BenchmarkSample(b *testing.B) {
	logits, h := slope(49152), longHistory()
	s := NewSampler(len(logits))
	for _, k := range kinds() {
		b.Run(k.name, func(b *testing.B) {
			b.ReportAllocs()
			var d Drawn
			key := Key{}
			for b.Loop() {
				key.Position++
				if err := s.Sample(logits, &k.p, h, key, &d); err != nil {
					b.Fatal(err)
				}
			}
			if each := b.Elapsed() / time.Duration(b.N); k.most > 0 && b.N > 100 && each > k.most {
				b.Errorf("a draw takes %v, must take %v", each, k.most)
			}
		})
	}
}

func BenchmarkScore(b *testing.B) {
	logits := slope(49152)
	s := NewSampler(len(logits))
	var d Drawn
	b.ReportAllocs()
	for b.Loop() {
		if err := s.Score(logits, 3, 5, &d); err != nil {
			b.Fatal(err)
		}
	}
}
