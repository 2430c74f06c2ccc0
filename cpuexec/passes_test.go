package cpuexec

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/cbactor/cbactor/cpuexec/kernels"
	"github.com/cbactor/cbactor/sampling"
)

// manyLogits is a row as a model's: most near 0, some far above, some -Inf.
func manyLogits(r *rand.Rand, vocab int) []float32 {
	row := make([]float32, vocab)
	for i := range row {
		row[i] = float32(r.NormFloat64() * 2.2)
		if r.IntN(50) == 0 {
			row[i] = float32(math.Inf(-1))
		}
	}
	for i := range 40 {
		row[r.IntN(vocab)] = 18 - 9*float32(i)/40
	}
	return row
}

// TestPasses draws by each Set's passes and by the Sampler's own: not a bit of what is
// drawn and told differs, nor what is said of rows that are not usable.
func TestPasses(t *testing.T) {
	for _, set := range kernels.All() {
		r := rand.New(rand.NewPCG(10, 10))
		for _, vocab := range []int{1, 33, 1000, 4096 + 77} {
			plain, fast := sampling.NewSampler(vocab), sampling.NewSampler(vocab)
			fast.Use(passes(set))
			for i := range 200 {
				row := manyLogits(r, vocab)
				if i%10 == 0 {
					row[r.IntN(vocab)] = float32([]float64{math.NaN(), math.Inf(1), -math.NaN()}[i/10%3])
				}
				p := sampling.Params{Tell: sampling.Tell{Logprobs: i%2 == 0, Kept: i%3 == 0}, Temperature: float32(i%4) / 2}
				if i%4 > 0 {
					p.TopK, p.TopP, p.MinP = int32(i/4%3*20), float32(i/12%3)*0.45, float32(i/36%3)*0.1
				}
				key := sampling.Key{Seed: 5, Position: int32(i)}
				var want, got sampling.Drawn
				wantErr := plain.Sample(row, &p, sampling.History{}, key, &want)
				gotErr := fast.Sample(row, &p, sampling.History{}, key, &got)
				if fmt.Sprint(got, gotErr) != fmt.Sprint(want, wantErr) {
					t.Fatalf("%s: %d logits, draw %d, %+v: %v %v, plain %v %v", set.Name, vocab, i, p, got, gotErr, want, wantErr)
				}
			}
		}
	}
}

// TestWeigh compares the weights themselves, to the bit, down to those that are 0.
func TestWeigh(t *testing.T) {
	for _, set := range kernels.All() {
		r := rand.New(rand.NewPCG(11, 11))
		for range 300 {
			logits := (*[sampling.Block]float32)(manyLogits(r, sampling.Block))
			factor := 256 * math.Log2E / (0.05 + 2*r.Float64())
			var got, want [sampling.Block]float64
			sum := passes(set).Weigh(logits, 18, factor, &got)
			wantSum := sampling.Plain.Weigh(logits, 18, factor, &want)
			if got != want || sum != wantSum {
				t.Fatalf("%s: weights %v, sum %v, want %v, sum %v", set.Name, got, sum, want, wantSum)
			}
		}
	}
}

// BenchmarkDraw draws from 49,152 logits by each Set's passes.
func BenchmarkDraw(b *testing.B) {
	row := manyLogits(rand.New(rand.NewPCG(1, 1)), 49152)
	for _, set := range kernels.All() {
		for _, p := range []sampling.Params{
			{}, {Temperature: 0.8}, {Temperature: 0.8, TopK: 50}, {Temperature: 0.8, TopP: 0.9}, {Temperature: 0.8, MinP: 0.05},
			{Temperature: 0.8, TopK: 50, TopP: 0.95}, {Temperature: 1, Tell: sampling.Tell{Logprobs: true, Top: 5}},
		} {
			name := fmt.Sprintf("%s/t=%v,k=%d,p=%v,min=%v,top=%d", set.Name, p.Temperature, p.TopK, p.TopP, p.MinP, p.Tell.Top)
			b.Run(name, func(b *testing.B) {
				s := sampling.NewSampler(len(row))
				s.Use(passes(set))
				var d sampling.Drawn
				key := sampling.Key{}
				for b.Loop() {
					key.Position++
					if err := s.Sample(row, &p, sampling.History{}, key, &d); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
