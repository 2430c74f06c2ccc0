package kernels

import (
	"errors"
	"fmt"
	"strings"
)

// Panel is the number of columns of a weight panel.
const Panel = 32

// Tile is the largest number of positions that one call of Attend adds.
const Tile = 32

// ErrUnavailable is the answer to a name that is not a Set of this CPU.
var ErrUnavailable = errors.New("instruction set is not available")

// Set is one implementation of the kernels. Slices are as long as the described
// use needs; strides are in floats.
type Set struct {
	// Name is avx512, avx2 or generic.
	Name string

	// Gemm writes out[r][0:32] = sum over i < k of x[r][i]*w[i][0:32] for rows r of
	// x (xStride apart) and out (outStride apart); w is a panel.
	Gemm func(w, x, out []float32, k, rows, xStride, outStride int)

	// Attend adds n positions, 1 to Tile, to the state of a query head of dim
	// elements. q is scaled by log2(e)/sqrt(dim). k[d*kPitch+j] is K of position j,
	// v[j*dim+d] is V. Up to Tile floats are read in each row of k, and so behind
	// its end, whatever n is.
	Attend func(q, k, v, state []float32, kPitch, n, dim int)

	// AddTile adds 32 columns of src to dst, row by row. A srcStride of 0 adds one
	// row to all.
	AddTile func(dst, src []float32, rows, dstStride, srcStride int)

	// SiluTile writes silu(gate)*up to 32 columns of dst, row by row; src has 32
	// gates, then 32 ups a row.
	SiluTile func(src, dst []float32, rows, dstStride int)

	// Norm writes x/sqrt(mean(x^2)+eps)*w, the mean being over n elements. The
	// slices are as long as n rounded up to 16, x with zeros behind n.
	Norm func(x, w, out []float32, n int, eps float64)

	// Rope turns the pairs (i, i+dim/2) of each head in x, heads of dim elements
	// side by side, by the angles whose cosines and sines are given, and scales.
	Rope func(x, cos, sin []float32, dim int, scale float32)

	// Transpose writes 32 rows of x (xStride apart) into the columns of a panel:
	// w[i*32+c] = x[c*xStride+i] for i < k.
	Transpose func(x, w []float32, k, xStride int)
}

// All lists the Sets of this CPU, the fastest first, plain Go last.
func All() []*Set { return append(native(), generic) }

// Choose finds a Set by name; "" is the fastest.
func Choose(name string) (*Set, error) {
	all := All()
	names := make([]string, len(all))
	for i, s := range all {
		if name == "" || s.Name == name {
			return s, nil
		}
		names[i] = s.Name
	}
	return nil, fmt.Errorf("%w: %q, this CPU has %s", ErrUnavailable, name, strings.Join(names, ", "))
}
