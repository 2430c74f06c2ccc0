package kernels

import "math"

// exp2Poly approximates 2^f on [-0.5, 0.5] with a relative error of 1.02e-7: a
// minimax polynomial of degree 5. gen has the same values for the assembly.
var exp2Poly = [6]float32{1.0000000754548972, 0.6931471880262287, 0.24022107485308267,
	0.05550357114219194, 0.009676031918324871, 0.0013390863364616103}

const (
	negLog2e = float32(-math.Log2E)
	softLow  = -64  // scores further below the maximum weigh as this one
	siluLow  = -126 // exp2 computes from here
	siluHigh = 126  // to here
)

// expm2Poly approximates (2^f-1)/f on [-0.5, 0.5] with a relative error of 1.1e-8: a
// minimax polynomial of degree 5, fitted for this package. gen has the same values.
var expm2Poly = [6]float32{0.6931471879266905, 0.240226497949652, 0.05550357433635557,
	0.009618237493942737, 0.0013390735477923916, 0.0001540351269289168}

// exp2 is 2^x for x from -126 to 127, with the assembly's operations. A NaN stays
// one.
func exp2(x float32) float32 {
	if x != x {
		return x
	}
	n := math.RoundToEven(float64(x))
	f := x - float32(n)
	t := exp2Poly[5]
	for i := 4; i >= 0; i-- {
		t = fma(t, f, exp2Poly[i])
	}
	return float32(t * math.Float32frombits(uint32(int32(n)+127)<<23)) // which nothing is fused with
}
