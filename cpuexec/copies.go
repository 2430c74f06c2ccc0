package cpuexec

import "github.com/cbactor/cbactor/executor"

// copyProducts is how many products of weights and tokens take as long as copying
// one float32 to memory that is touched for the first time; later it is faster.
const copyProducts = 4

// copyCost is what it costs to copy K and V of a token out and in again, against
// computing the token, both in products:
//
//	2 * copyProducts * (2 * key heads * head dimension * layers) / weights
//
// What attention reads is not counted: a long sequence costs more to compute again.
func copyCost(d *dims, weights int) float64 {
	return 2 * copyProducts * float64(d.blockFloats(1)) / float64(weights)
}

// copyBlocks runs the copies of a Batch.
func (s *step) copyBlocks(copies []executor.Copy) error {
	if len(copies) == 0 {
		return nil
	}
	s.copies = copies
	err := s.runOn(len(copies)*s.cache.blockLen*copyProducts, s.copy)
	s.copies = nil // the caller's
	return err
}

// copyParts copies this thread's part of every block, so that many copies and a
// single one use all threads. A part depends on the same part of other blocks
// alone: the order given holds without waiting for another thread.
func (s *step) copyParts(id int) {
	lo, hi := share(s.cache.blockLen, id, s.threads)
	for i := range s.copies {
		from, to := s.cache.ends(&s.copies[i])
		copy(to[lo:hi], from[lo:hi])
	}
}
