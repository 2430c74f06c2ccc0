package kernels

import "github.com/cbactor/cbactor/cuda"

// Which scores the weights of a token's experts are a softmax over.
const (
	RouteAll        = iota
	RouteNormalised // all, then divided by the sum of the chosen
	RouteChosen
)

// MaxExperts is how many experts a layer may have: MOST_EXPERTS of the source.
const MaxExperts = 1024

// expertTiles is how many of tiles the products of experts have.
const expertTiles = 2

// expertGrid is the tile for so many rows of all experts, and the blocks they can fill.
func expertGrid(rows, experts, n int) (int, cuda.Grid) {
	i := tileOf(over(rows, experts), expertTiles)
	most := min(rows, rows/tiles[i].m+experts)
	return i, grid(over(n, tiles[i].n), most, 1)
}

// Route chooses the experts of t tokens: chosen and weight [t][perToken], the highest score
// first, the lower number among equals. Scores are those of rows of x [t][hidden], normalised
// and times norm, if there is one, by the router w [experts][hidden] and its bias, if there is
// one, in float32.
func (s *Set) Route(stream *cuda.Stream, chosen, weight, x, norm, w, bias cuda.Pointer, t, hidden, experts, perToken int, eps float32, kind int) error {
	return s.rows(stream, route, t, cuda.Address(chosen), cuda.Address(weight), cuda.Address(x), cuda.Address(norm),
		cuda.Address(w), cuda.Address(bias), cuda.Int(hidden), cuda.Int(experts), cuda.Int(perToken), cuda.Float(eps),
		cuda.Int(kind))
}

// SortExperts sorts n choices by expert, those of an expert in their order: order [n] has the
// choice of each row, row [n] the row of each choice, starts [experts+1] where each expert's
// rows begin, and the end.
func (s *Set) SortExperts(stream *cuda.Stream, order, row, starts, chosen cuda.Pointer, n, experts int) error {
	return s.rows(stream, sortExperts, experts+1, cuda.Address(order), cuda.Address(row), cuda.Address(starts),
		cuda.Address(chosen), cuda.Int(n))
}

// GemmGateExperts is GemmGate for so many rows, sorted by expert: row r takes row
// order[r]/perToken of a. w is [experts][n][k], bias [experts][n].
func (s *Set) GemmGateExperts(stream *cuda.Stream, y, a cuda.Pointer, w Weights, bias, order, starts cuda.Pointer, rows, perToken, experts, n, k, ld, kind int) error {
	i, blocks := expertGrid(rows, experts, n)
	return s.functions[ofFormat(gateExperts16, w.Format, i, expertTiles)].Launch(stream, blocks, grid(tiles[i].threads, 1, 1), 0,
		cuda.Address(y), cuda.Address(a), cuda.Address(w.At), cuda.Address(bias), cuda.Address(order), cuda.Address(starts),
		cuda.Int(perToken), cuda.Int(experts), cuda.Int(n), cuda.Int(k), cuda.Int(ld), cuda.Int(kind))
}

// GemmExperts writes out [rows][n]: rows a, bf16 [rows][k], sorted by expert, each times its
// expert's matrix of w [experts][n][k], and its bias of [experts][n], if there are any.
func (s *Set) GemmExperts(stream *cuda.Stream, out, a cuda.Pointer, w Weights, bias, starts cuda.Pointer, rows, experts, n, k int) error {
	i, blocks := expertGrid(rows, experts, n)
	return s.functions[ofFormat(gemmExperts16, w.Format, i, expertTiles)].Launch(stream, blocks, grid(tiles[i].threads, 1, 1), 0,
		cuda.Address(out), cuda.Address(a), cuda.Address(w.At), cuda.Address(bias), cuda.Address(starts),
		cuda.Int(experts), cuda.Int(n), cuda.Int(k))
}

// Mix adds up what the experts of t tokens answer, out [.][n], each times its weight, the
// first chosen first: parts [t][n], which is what Residual takes.
func (s *Set) Mix(stream *cuda.Stream, parts, out, weight, row cuda.Pointer, t, perToken, n int) error {
	return s.rows(stream, mix, t, cuda.Address(parts), cuda.Address(out), cuda.Address(weight), cuda.Address(row),
		cuda.Int(perToken), cuda.Int(n))
}
