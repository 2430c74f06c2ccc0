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

// Group is how many positions of V lie together in a cache in int8.
const Group = 4

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

	// GemmBF16 is Gemm for a panel of Format BF16, with the same operations in the same
	// order: where weights are bf16, bits are those of Gemm.
	GemmBF16 func(w []uint16, x, out []float32, k, rows, xStride, outStride int)

	// GemmMXFP4 is Gemm for a panel of Format MXFP4, whose k is a multiple of 32, likewise: the
	// numbers are those of float32.
	GemmMXFP4 func(w []byte, x, out []float32, k, rows, xStride, outStride int)

	// Integers multiply rows that are packed, in so many blocks, with a panel of their
	// Format: out[r][0:32]. Quantise packs them, for C8 QuantiseC8, and the first of these
	// is the first of 8. One row they multiply with as many panels, one behind the other,
	// as out has 32 numbers. Formats that do not pack have none.
	Integers [formats]func(w, x []byte, out []float32, blocks, rows, outStride int)

	// Quantise packs n blocks of 32 numbers of each of rows of x (xStride apart) as bytes
	// and scales. They become blocks first and following, of so many, of the rows from
	// number row on in dst.
	Quantise func(x []float32, dst []byte, row, rows, first, n, blocks, xStride int)

	// QuantiseC8 packs whole rows for C8.
	QuantiseC8 func(x []float32, dst []byte, row, rows, blocks, xStride int)

	// Attend adds a tile of positions, 1 to Tile, to the states of len(n) queries: query
	// r, q[r*dim:], sees the first n[r], 1 or more, and its state is states[r*StateLen(dim):].
	// Queries are scaled by log2(e) times what the model scales scores with; or, with top
	// not 0, for scores that become top*tanh(score). k[d*kPitch+j] is K of position j,
	// v[j*dim+d] is V. Up to Tile floats are read in each row of k, and so behind
	// its end, whatever n is. What a query answers does not depend on the others. next is
	// what the call behind reads, from K on and in one piece, as it lies where K of Tile
	// positions is followed by V; it is fetched meanwhile: a hint, or nil.
	Attend func(q, k, v, next, states []float32, kPitch int, n []int32, dim int, top float32)

	// AttendBF16 is Attend for a cache in bf16.
	AttendBF16 func(q []float32, k, v, next []uint16, states []float32, kPitch int, n []int32, dim int, top float32)

	// AttendInt8 is Attend for a cache in int8 and queries of QuantiseQuery, QueryLen(dim)
	// bytes each: k[d/4*4*kPitch+4*j+d%4] is K of position j plus 128, v[j/4*4*dim+4*d+j%4]
	// is V, of a multiple of 4 positions, and kScales and vScales are those of the positions.
	// 4*Tile bytes are read of K of 4 dimensions. dim is a multiple of 4, MaxInt8Dim at most.
	AttendInt8 func(q, k, v, next []byte, kScales, vScales, states []float32, kPitch int, n []int32, dim int, top float32)

	// QuantiseQuery packs a scaled query, of a multiple of 4 elements, for AttendInt8.
	QuantiseQuery func(q []float32, dst []byte)

	// StoreBF16 writes K and V of a key head, of position at of a page of kPitch positions.
	StoreBF16 func(k, v []float32, kPage, vPage []uint16, kPitch, at int)

	// StoreInt8 does that in int8, each with a scale of its own.
	StoreInt8 func(k, v []float32, kPage, vPage []byte, kScales, vScales []float32, kPitch, at int)

	// Best keeps the largest of 32 columns, the first of which is number first, for rows
	// of x: most[r] and which[r] are what was found before; the lowest number of equals
	// is kept when columns ascend. A NaN or +Inf leaves NaN in most[r], for ever.
	Best func(x []float32, most []float32, which []int32, first, rows, xStride int)

	// Above is the number of the first of x that is not at most bound, or len(x). Weigh
	// writes 2^((logit-best)*factor/256), 0 where that is below e^-60, and adds them up.
	// Package sampling has their plain forms: nil where there is none that is faster.
	Above func(x []float32, bound float32) int
	Weigh func(logits *[64]float32, best, factor float64, out *[64]float64) float64

	// AddTile adds 32 columns of src to dst, row by row. A srcStride of 0 adds one
	// row to all.
	AddTile func(dst, src []float32, rows, dstStride, srcStride int)

	// SiluTile writes silu(gate)*up to 32 columns of dst, row by row; src has 32
	// gates, then 32 ups a row.
	SiluTile func(src, dst []float32, rows, dstStride int)

	// GELUTile is SiluTile with gelu by the approximation with tanh:
	//
	//	gelu(x) = x/2 * (1+tanh(y)) = x / (1+e^-2y), y = sqrt(2/pi) * (x + 0.044715*x^3)
	//
	// of Hendrycks and Gimpel, arXiv 1606.08415.
	GELUTile func(src, dst []float32, rows, dstStride int)

	// ClampedTile writes gate*sigmoid(alpha*gate)*(up+1) of gates that are at most limit and
	// of ups within it, as gpt-oss has them.
	ClampedTile func(src, dst []float32, rows, dstStride int, alpha, limit float32)

	// CapTile makes top*tanh(x/top) of 32 columns of x, row by row.
	CapTile func(x []float32, rows, stride int, top float32)

	// Norm writes x/sqrt(mean(x^2)+eps)*w, the mean being over n elements. The
	// slices are as long as n rounded up to 16, x with zeros behind n.
	Norm func(x, w, out []float32, n int, eps float64)

	// Rope turns the pairs (i, i+dim/2) of each head in x, heads of dim elements
	// side by side, by the angles whose cosines and sines are given, and scales.
	Rope func(x, cos, sin []float32, dim int, scale float32)

	// Transpose writes 32 rows of x (xStride apart) into the columns of a panel:
	// w[i*32+c] = x[c*xStride+i] for i < k.
	Transpose func(x, w []float32, k, xStride int)

	// Read answers the exclusive or of the words of 8 bytes of b, of which there are a
	// multiple of 64: what memory gives at most.
	Read func(b []byte) uint64

	// MulAddF32 and MulAddInt8 multiply and add as fast as this Set can, and answer how
	// often: rounds, up to a million, times a number that is the Set's own.
	MulAddF32, MulAddInt8 func(rounds int) float64
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
