package kernels

import "math"

// The gates of families other than Llama's, in plain Go for every Set. As in
// SiluTile, src has 32 gates, then 32 ups a row, dst gets 32 columns, row by row.

// GELUTile writes gelu(gate)*up, by the approximation with tanh:
//
//	gelu(x) = x/2 * (1+tanh(y)) = x / (1+e^-2y), y = sqrt(2/pi) * (x + 0.044715*x^3)
//
// of Hendrycks and Gimpel, arXiv 1606.08415.
func GELUTile(src, dst []float32, rows, dstStride int) {
	const c, cubic = float32(-2 * math.Log2E * 0.7978845608028654), float32(0.044715)
	gateTile(src, dst, rows, dstStride, func(g, up float32) float32 {
		cube := float32(float32(g*g) * g)
		return g * sigmoid(float32(c*(g+float32(cubic*cube)))) * up
	})
}

// ClampedTile writes gate*sigmoid(alpha*gate)*(up+1) of gates that are at most limit and of
// ups within it, as gpt-oss has them.
func ClampedTile(src, dst []float32, rows, dstStride int, alpha, limit float32) {
	gateTile(src, dst, rows, dstStride, func(g, up float32) float32 {
		if g > limit {
			g = limit
		}
		if up > limit {
			up = limit
		} else if up < -limit {
			up = -limit
		}
		return float32(g*sigmoid(float32(alpha*g)*negLog2e)) * (up + 1)
	})
}

func gateTile(src, dst []float32, rows, dstStride int, of func(gate, up float32) float32) {
	for r := range rows {
		gate, up := (*[Panel]float32)(src[2*r*Panel:]), (*[Panel]float32)(src[(2*r+1)*Panel:])
		d := (*[Panel]float32)(dst[r*dstStride:])
		for c, g := range gate {
			d[c] = of(g, up[c])
		}
	}
}

// sigmoid is 1/(1+2^x): that of a number times -log2(e). A NaN stays one.
func sigmoid(x float32) float32 {
	if x < siluLow {
		x = siluLow
	}
	if x > siluHigh {
		x = siluHigh
	}
	return 1 / (1 + exp2(x))
}
