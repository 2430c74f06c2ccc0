package kernels

import "math"

// Gates in plain Go, the twins of the assembly: gate/(1+2^x)*up, where x is what a family
// makes of the gate.

// siluTileGo has x = -log2(e)*gate.
func siluTileGo(src, dst []float32, rows, dstStride int) {
	gateTile(src, dst, rows, dstStride, func(g, up float32) float32 {
		return gated(g, float32(g*negLog2e)) * up
	})
}

// Of GELUTile: -2*log2(e)*sqrt(2/pi), and what the cube is multiplied with. gen has the
// same values for the assembly.
const (
	geluFactor = float32(-2 * math.Log2E * 0.7978845608028654)
	geluCubic  = float32(0.044715)
)

// geluTileGo has x = geluFactor*(gate + geluCubic*gate^3).
func geluTileGo(src, dst []float32, rows, dstStride int) {
	gateTile(src, dst, rows, dstStride, func(g, up float32) float32 {
		cube := float32(float32(g*g) * g)
		return gated(g, float32((g+float32(cube*geluCubic))*geluFactor)) * up
	})
}

// clampedTileGo has x = -log2(e)*alpha*gate.
func clampedTileGo(src, dst []float32, rows, dstStride int, alpha, limit float32) {
	factor := clampFactor(alpha)
	gateTile(src, dst, rows, dstStride, func(g, up float32) float32 {
		if g > limit {
			g = limit
		}
		if up > limit {
			up = limit
		} else if up < -limit {
			up = -limit
		}
		return gated(g, float32(g*factor)) * (up + 1)
	})
}

// clampFactor is -log2(e)*alpha.
func clampFactor(alpha float32) float32 { return alpha * negLog2e }

// gated is gate/(1+2^x). A NaN stays one.
func gated(gate, x float32) float32 {
	if x < siluLow {
		x = siluLow
	}
	if x > siluHigh {
		x = siluHigh
	}
	return gate / (1 + exp2(x))
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
