package kernels

import "github.com/cbactor/cbactor/cuda"

// Embed writes the rows of table [.][ld] of t tokens, times scale, to x [t][hidden].
// An id below 0 names a sequence, -1-id, of which last has the token; one that is not known
// there, below 0 too, makes its row NaN. A token of a position below 0 is padding: zeros.
func (s *Set) Embed(stream *cuda.Stream, x cuda.Pointer, table Weights, ids, last, pos cuda.Pointer, t, hidden, ld int, scale float32) error {
	return s.rows(stream, ofFormat(embed, table.Format, 0, 1), t, cuda.Address(x), cuda.Address(table.At), cuda.Address(ids), cuda.Address(last),
		cuda.Address(pos), cuda.Int(hidden), cuda.Int(ld), cuda.Float(scale))
}

// Norm writes m rows of x [.][hidden], normalised by their root mean square and eps and times
// w, to y, bf16 [m][width]. Row i is from[i] of x, or i without from; without w rows are as
// they are, rounded.
func (s *Set) Norm(stream *cuda.Stream, y, x, from, w cuda.Pointer, m, hidden, width int, eps float32) error {
	return s.rows(stream, rmsNorm, m, cuda.Address(y), cuda.Address(x), cuda.Address(from), cuda.Address(w),
		cuda.Int(hidden), cuda.Int(width), cuda.Float(eps))
}

// Residual adds what half a layer answers to x [t][hidden]: so many parts [parts][t][hidden],
// bias, if there is one, and what adapters add, normalised and times post, if there is one, times scale. y, bf16
// [t][width], becomes x, normalised and times pre, if there is one.
func (s *Set) Residual(stream *cuda.Stream, x, y, parts, bias cuda.Pointer, added Added, post, pre cuda.Pointer, count, t, hidden, width int, scale, eps float32) error {
	delta, adapted, joint := added.args()
	return s.rows(stream, residual, t, cuda.Address(x), cuda.Address(y), cuda.Address(parts), cuda.Address(bias),
		delta, adapted, joint, cuda.Address(post), cuda.Address(pre), cuda.Int(count), cuda.Int(t), cuda.Int(hidden), cuda.Int(width),
		cuda.Float(scale), cuda.Float(eps))
}

// Shape multiplies logits [m][n] with scale and caps them, limit*tanh(x/limit), each unless 0.
func (s *Set) Shape(stream *cuda.Stream, logits cuda.Pointer, m, n int, scale, limit float32) error {
	return s.rows(stream, shape, m, cuda.Address(logits), cuda.Int(n), cuda.Float(scale), cuda.Float(limit))
}
