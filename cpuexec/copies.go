package cpuexec

import "github.com/cbactor/cbactor/executor"

// copyReads is how many bytes of weights are multiplied with a token while one of a block
// is copied, to memory that was touched before.
const copyReads = 4

// copyCost is what it costs to copy K and V of a token out and in again, against
// computing the token in a prompt:
//
//	2 * products of a token while a byte is copied * (bytes of a block / page size) / products of a token
//
// both by all threads. What attention reads is not counted: a long sequence costs more to
// compute again.
func (c *Config) copyCost(blockBytes int64, products int) float64 {
	perByte := 16.0
	if c.Compute == ComputeInt8 {
		perByte = 48
	}
	return 2 * perByte * float64(blockBytes) / float64(c.PageSize) / float64(products)
}

// copyBlocks runs the copies of a Batch.
func (s *step) copyBlocks(copies []executor.Copy) error {
	if len(copies) == 0 {
		return nil
	}
	s.clock.settle(OpRest)
	s.copies = copies
	bytes := 0
	for i := range copies {
		bytes += s.cache.groups[copies[i].Group].block
	}
	err := s.runOn(bytes*copyReads, s.copy)
	s.copies = nil // the caller's
	s.clock.settle(OpCopy)
	return err
}

// copyParts copies this thread's part of every block, so that many copies and a
// single one use all threads. A part depends on the same part of other blocks of its group
// alone: the order given holds without waiting for another thread. A block of another group
// may lie where one was.
func (s *step) copyParts(id int) {
	for i := range s.copies {
		if i > 0 && s.copies[i].Group != s.copies[i-1].Group {
			s.pool.Sync()
		}
		from, to := s.cache.ends(&s.copies[i])
		lo, hi := share(len(from), id, s.threads)
		copy(to[lo:hi], from[lo:hi])
	}
}
