package sampling

// Block is how many weights are computed and added up at a time.
const Block = 64

// Passes are what a Sampler does with all logits of a row. A CPU may have faster ones; what
// they answer must be the same, to the bit.
type Passes struct {
	// Above is the number of the first of x that is not at most bound, larger or a NaN;
	// len(x): there is none.
	Above func(x []float32, bound float32) int

	// Weigh writes 2^((logit-best)*factor/256) of each logit to out, 0 where that is below
	// e^-60, and adds them up, by the operations of weigh in exp.go.
	Weigh func(logits *[Block]float32, best, factor float64, out *[Block]float64) float64
}

// Plain are the passes in plain Go, which a Sampler has until Use.
var Plain = Passes{
	Above: above,
	Weigh: func(logits *[Block]float32, best, factor float64, out *[Block]float64) float64 {
		return weigh(logits[:], best, factor, out[:])
	},
}

// Use has the Sampler use other passes than Plain.
func (s *Sampler) Use(p Passes) { s.passes = p }
