package sim

import "math/rand/v2"

// Request is one request of a load.
type Request struct {
	Prompt []int32
	MaxNew int
	Arrive float64 // virtual seconds

	Priority int // higher goes first, with that policy
}

// Shape describes a random load.
type Shape struct {
	Count  int
	Seed   uint64
	Rate   float64 // arrivals a virtual second; 0: all at once
	Shared float64 // share of the requests that begin with one of eight long texts
}

// Load makes a random load: prompts of 16 to 272 tokens, 8 to 135 new ones, and
// exponential gaps between arrivals.
func Load(s Shape) []Request {
	r := rand.New(rand.NewPCG(s.Seed, 0))
	begin := make([][]int32, 8)
	for i := range begin {
		begin[i] = words(r, 192)
	}
	at := 0.0
	load := make([]Request, s.Count)
	for i := range load {
		if s.Rate > 0 {
			at += r.ExpFloat64() / s.Rate
		}
		prompt := words(r, 16+r.IntN(64))
		if r.Float64() < s.Shared {
			prompt = append(append([]int32(nil), begin[r.IntN(len(begin))]...), prompt...)
		} else {
			prompt = append(prompt, words(r, r.IntN(193))...)
		}
		load[i] = Request{Prompt: prompt, MaxNew: 8 + r.IntN(128), Arrive: at}
	}
	return load
}

func words(r *rand.Rand, n int) []int32 {
	ids := make([]int32, n)
	for i := range ids {
		ids[i] = r.Int32N(vocab)
	}
	return ids
}
