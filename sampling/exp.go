package sampling

import "math"

// negligible is the logarithm of a weight that cannot change a sum of float64 with the
// most likely token's 1: 2^20 times e^-60 is below 2^-65.
const negligible = -60

// A weight is a power of 2 of a logarithm in units of 1/steps: its whole part picks one of
// a table's powers and an exponent, and what is left, half a unit at most, goes through the
// Taylor series to the third power, whose rest is below 2e-13. All operations round alike
// everywhere, so that a draw is the same on every CPU, as far as no typical-p is in it.
const (
	steps   = 1 << 8
	perNat  = steps * math.Log2E
	expC1   = math.Ln2 / steps
	expC2   = expC1 * expC1 / 2
	expC3   = expC1 * expC1 * expC1 / 6
	toWhole = 3 << 51 // added to a number, leaves its whole part in the lowest bits
)

// powers has the bits of 2^(i/steps): products of the power of i's sixteenths of an octave
// and that of the rest, so that registers can hold a table of each.
var powers = func() (t [steps]uint64) {
	for i := range t {
		t[i] = math.Float64bits(power(i/16, 16) * power(i%16, steps))
	}
	return t
}()

// power is 2^(i/n), n being a power of 2: a product of roots of 2.
func power(i, n int) float64 {
	power, root := 1.0, 2.0
	for bit := n / 2; bit > 0; bit /= 2 {
		if root = math.Sqrt(root); i&bit != 0 {
			power *= root
		}
	}
	return power
}

// lowestWhole is negligible in the form in which weigh compares: as bits, which order as
// numbers above 0 do.
var lowestWhole = int64(math.Float64bits(toWhole + math.Floor(negligible*perNat)))

// weigh writes the weights of logits, a Block of them at most, to out, and adds them up.
func (s *Sampler) weigh(d *distribution, logits []float32, out []float64) float64 {
	factor := perNat / d.temperature
	if len(logits) == Block {
		return s.passes.Weigh((*[Block]float32)(logits), d.best, factor, (*[Block]float64)(out))
	}
	return weigh(logits, d.best, factor, out)
}

// weigh is Passes.Weigh for any number of logits. Conversions keep products and sums from
// being fused where a CPU can.
func weigh(logits []float32, best, factor float64, out []float64) float64 {
	out = out[:len(logits)]
	for i, v := range logits {
		t := float64((float64(v) - best) * factor)
		whole := t + toWhole
		bits := math.Float64bits(whole)
		if int64(bits) < lowestWhole {
			out[i] = 0
			continue
		}
		f := t - (whole - toWhole)
		power := math.Float64frombits(powers[bits%steps] + bits/steps<<52)
		part := float64(f * (expC1 + float64(f*(expC2+float64(f*expC3)))))
		out[i] = power + float64(power*part)
	}
	return sumOf(out)
}

// sumOf adds up weights in lanes of their numbers modulo 8, which are folded in halves.
func sumOf(weights []float64) float64 {
	var a, b, c, d, e, f, g, h float64
	for ; len(weights) >= 8; weights = weights[8:] {
		w := (*[8]float64)(weights)
		a, b, c, d = a+w[0], b+w[1], c+w[2], d+w[3]
		e, f, g, h = e+w[4], f+w[5], g+w[6], h+w[7]
	}
	sums := [8]float64{a, b, c, d, e, f, g, h}
	for i, w := range weights {
		sums[i] += w
	}
	for half := 4; half > 0; half /= 2 {
		for i := range half {
			sums[i] += sums[i+half]
		}
	}
	return sums[0]
}
