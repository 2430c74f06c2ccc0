package model

import "math"

// RotaryDims is how many elements of a head, the first ones, are turned.
func (c *Config) RotaryDims() int {
	if c.RotaryDim > 0 {
		return c.RotaryDim
	}
	return c.HeadDim
}

// RopeOf is the rotary embedding of layers of a kind.
func (c *Config) RopeOf(kind Attention) *Rope {
	if kind == Sliding && c.SlidingRope != nil {
		return c.SlidingRope
	}
	return &c.Rope
}

// InvFreq computes the inverse frequencies of the rotary embedding of layers of a kind, one
// for each pair of the elements that are turned (RotaryDims/2), and the factor that cosines
// and sines are multiplied with. Position p turns pair i by p*inv[i] radians.
//
// The formulas are those of modeling_rope_utils.py in Hugging Face Transformers 5
// (linear: position interpolation; llama3: Llama 3.1; yarn: arXiv 2309.00071).
// They are evaluated in float32 where the reference does so, because the error of
// a float32 exponent grows with the position and is part of the reference's answers.
func (c *Config) InvFreq(kind Attention) (inv []float64, scale float64) {
	r, dim := c.RopeOf(kind), c.RotaryDims()
	half := dim / 2
	plain := make([]float32, half)
	for i := range plain {
		exponent := float32(2*i) / float32(dim)
		plain[i] = 1 / float32(math.Pow(r.Theta, float64(exponent)))
	}
	scale = 1
	switch r.Kind {
	case RopeLinear:
		for i := range plain {
			plain[i] /= float32(r.Factor)
		}
	case RopeLlama3:
		for i := range plain {
			plain[i] = r.llama3(plain[i])
		}
	case RopeYarn:
		r.yarn(plain, dim)
		scale = r.yarnScale()
	}
	inv = make([]float64, half)
	for i, f := range plain {
		if r.FreqDivisors != nil {
			f /= r.FreqDivisors[i]
		}
		inv[i] = float64(f)
	}
	return inv, scale
}

// llama3 leaves short waves alone, divides long ones by the factor and blends
// between.
func (r *Rope) llama3(f float32) float32 {
	old := float32(r.OriginalMaxPosition)
	low, high := float32(r.LowFreqFactor), float32(r.HighFreqFactor)
	wavelength := float32(2*math.Pi) / f
	switch {
	case wavelength < old/high:
		return f
	case wavelength > old/low:
		return f / float32(r.Factor)
	}
	smooth := (old/wavelength - low) / (high - low)
	return (1-smooth)*f/float32(r.Factor) + smooth*f
}

// yarn blends each frequency between itself and itself over the factor, along a
// ramp between the pairs that turn BetaFast and BetaSlow times over the original
// context.
func (r *Rope) yarn(freq []float32, dim int) {
	pairTurning := func(turns float64) float64 {
		return float64(dim) * math.Log(float64(r.OriginalMaxPosition)/(turns*2*math.Pi)) / (2 * math.Log(r.Theta))
	}
	low, high := pairTurning(r.BetaFast), pairTurning(r.BetaSlow)
	if r.Truncate {
		low, high = math.Floor(low), math.Ceil(high)
	}
	low, high = max(low, 0), min(high, float64(dim-1))
	if low == high {
		high += 0.001 // as the reference: no division by zero
	}
	for i, f := range freq {
		ramp := min(max((float32(i)-float32(low))/float32(high-low), 0), 1)
		keep := 1 - ramp
		freq[i] = f/float32(r.Factor)*(1-keep) + f*keep
	}
}

// yarnScale is the attention factor, given or computed.
func (r *Rope) yarnScale() float64 {
	mscale := func(m float64) float64 {
		if r.Factor <= 1 {
			return 1
		}
		return 0.1*m*math.Log(r.Factor) + 1
	}
	switch {
	case r.AttentionFactor != 0:
		return r.AttentionFactor
	case r.MScale != 0 && r.MScaleAll != 0:
		return mscale(r.MScale) / mscale(r.MScaleAll)
	}
	return mscale(1)
}
