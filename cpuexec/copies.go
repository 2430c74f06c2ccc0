package cpuexec

import "github.com/cbactor/cbactor/executor"

// copyProducts is how many products of weights and tokens take as long as copying
// one float32 to memory that is touched for the first time; later it is faster.
const copyProducts = 4

// copyCost is what it costs to copy K and V of a token out and in again, against
// computing the token, both in products:
//
//	2 * copyProducts * (bytes of a block / page size / 4) / weights
//
// What attention reads is not counted: a long sequence costs more to compute again.
func copyCost(tokenBytes float64, weights int) float64 {
	return 2 * copyProducts * tokenBytes / 4 / float64(weights)
}

// copyBlocks runs the copies of a Batch.
func (s *step) copyBlocks(copies []executor.Copy) error {
	if len(copies) == 0 {
		return nil
	}
	s.clock.settle(OpRest)
	s.copies = copies
	err := s.runOn(len(copies)*s.cache.block/4*copyProducts, s.copy)
	s.copies = nil // the caller's
	s.clock.settle(OpCopy)
	return err
}

// copyParts copies this thread's part of every block, so that many copies and a
// single one use all threads. A part depends on the same part of other blocks
// alone: the order given holds without waiting for another thread.
func (s *step) copyParts(id int) {
	lo, hi := share(s.cache.block, id, s.threads)
	for i := range s.copies {
		from, to := s.cache.ends(&s.copies[i])
		copy(to[lo:hi], from[lo:hi])
	}
}
