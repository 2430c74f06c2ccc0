package kernels

import "github.com/cbactor/cbactor/cuda"

// tile is the size of what a block computes of a product, and who does: Tile of the source.
type tile struct{ m, n, threads int }

var tiles = [...]tile{{16, 64, 128}, {64, 64, 128}, {128, 128, 256}}

// ofFormat is the kernel of a tile and weights of a format, of those from a first one on.
func ofFormat(first int, f Format, tile, of int) int { return first + int(f)*of + tile }

// tileOf picks the tile of a product of m rows, of the first so many. All give the same bits.
func tileOf(m, of int) int {
	i := 0
	for i < of-1 && m > tiles[i].m {
		i++
	}
	return i
}

// Ranges of K are whole steps of all tiles, and long enough for their copies to be worth it.
const (
	rangeStep   = 64
	rangeLeast  = 512
	blocksWoken = 264 // twice the multiprocessors of an H200
)

// rangeOf is how much of k a sum goes over before sums are added, by n and k alone.
func rangeOf(n, k int) int {
	ranges := min(max(1, blocksWoken/over(n, tiles[0].n)), max(1, k/rangeLeast))
	return over(over(k, ranges), rangeStep) * rangeStep
}

// Parts is how many parts a product of m rows is best written in, which have their place
// where the executor reads them: 1 where rows are enough to fill the device.
func Parts(m, n, k int) int {
	if m > tiles[len(tiles)-2].m {
		return 1
	}
	return over(k, rangeOf(n, k))
}

// PartsFloats is the most float32 that the parts of up to m rows take.
func PartsFloats(m, n, k int) int {
	few := min(m, tiles[len(tiles)-2].m)
	return max(m*n, Parts(few, n, k)*few*n)
}

// Gemm multiplies a, bf16 [m][k], and the matrix w [n][k]: parts [count][m][n], whose sum in
// ascending order is the product, the same to the bit whatever count, which is Parts or 1.
func (s *Set) Gemm(stream *cuda.Stream, parts, a cuda.Pointer, w Weights, m, n, k, count int) error {
	i, along := s.tile(Shape{Dense, w.Format, n, k}, m), rangeOf(n, k)
	if k > along { // several ranges, which the last tile's kernel adds up by itself
		if last := len(tiles) - 1; count == 1 {
			i = last
		} else {
			i = min(i, last-1)
		}
	}
	t := tiles[i]
	return s.functions[ofFormat(gemm16, w.Format, i, len(tiles))].Launch(stream, grid(over(n, t.n), over(m, t.m), count), grid(t.threads, 1, 1), 0,
		cuda.Address(parts), cuda.Address(a), cuda.Address(w.At), cuda.Int(m), cuda.Int(n), cuda.Int(k), cuda.Int(along))
}

// GemmGate multiplies a, bf16 [m][k], and w [n][k], whose rows are those of gate and
// up in turn, as those of bias [n], if there is one, and writes the gated product, bf16
// [m][ld], of n/2 columns. What is added to the gates lies before what is added to up. kind
// is a model.Activation.
func (s *Set) GemmGate(stream *cuda.Stream, y, a cuda.Pointer, w Weights, bias cuda.Pointer, added Added, m, n, k, ld, kind int) error {
	i := s.tile(Shape{Gated, w.Format, n, k}, m)
	t := tiles[i]
	delta, adapted, joint := added.args()
	return s.functions[ofFormat(gate16, w.Format, i, len(tiles))].Launch(stream, grid(over(n, t.n), over(m, t.m), 1), grid(t.threads, 1, 1), 0,
		cuda.Address(y), cuda.Address(a), cuda.Address(w.At), cuda.Address(bias), delta, adapted, joint,
		cuda.Int(m), cuda.Int(n), cuda.Int(k), cuda.Int(ld), cuda.Int(kind))
}

// GateParts is the rest of GemmGate for a product that is there: parts, float32 [m][n].
func (s *Set) GateParts(stream *cuda.Stream, y, parts, bias cuda.Pointer, added Added, m, n, ld, kind int) error {
	delta, adapted, joint := added.args()
	return s.rows(stream, gateParts, m, cuda.Address(y), cuda.Address(parts), cuda.Address(bias), delta, adapted, joint, cuda.Int(n), cuda.Int(ld), cuda.Int(kind))
}
