package kernels

import "github.com/cbactor/cbactor/cuda"

// Best writes the id of the largest of each of m rows of logits [m][n], the lowest among
// equals; -1 where one is a NaN or +Inf, or all are -Inf.
func (s *Set) Best(stream *cuda.Stream, ids, logits cuda.Pointer, m, n int) error {
	return s.rows(stream, best, m,
		cuda.Address(ids), cuda.Address(logits), cuda.Int(n))
}

// Keep notes m ids as the last of their sequences, last [slot]. A slot below 0 is padding.
func (s *Set) Keep(stream *cuda.Stream, last, ids, slot cuda.Pointer, m int) error {
	return s.each(stream, keep, m, cuda.Address(last), cuda.Address(ids), cuda.Address(slot), cuda.Int(m))
}

// Patch writes n numbers to places of dst: pairs [n][2] of place and number. A place below 0
// is padding.
func (s *Set) Patch(stream *cuda.Stream, dst, pairs cuda.Pointer, n int) error {
	return s.each(stream, patch, n, cuda.Address(dst), cuda.Address(pairs), cuda.Int(n))
}

// each launches a kernel with a thread for each of n.
func (s *Set) each(stream *cuda.Stream, kernel, n int, args ...cuda.Arg) error {
	return s.functions[kernel].Launch(stream, grid(over(n, rowThreads), 1, 1), grid(rowThreads, 1, 1), 0, args...)
}
