package cpuexec

import "github.com/cbactor/cbactor/cpuexec/kernels"

// attendLate adds to the states of token j of u what it sees of the tile of n positions
// from p on, within which its window begins.
func (s *step) attendLate(u *span, j, p, n int, h *keyHead, w *attention, states []float32) {
	row, pos := j*s.group, u.pos+j
	q, state := w.queries.from(row, s.headDim), states[row*s.stateLen:]
	from, to := pos-h.window+1, min(p+n, pos+1)
	if odd := (from - p) % kernels.Group; odd > 0 && s.cache.kvType == KVInt8 {
		n := min(kernels.Group-odd, to-from)
		s.cache.attendOdd(s.kernels, &q, s.cache.tile(u.slot, from, h.layer, h.head), w.odd, state, w.all(n, s.group), s.scoreTop)
		from += n
	}
	if from < to {
		this := s.cache.tile(u.slot, from, h.layer, h.head)
		s.cache.attend(s.kernels, &q, this, this, state, w.all(to-from, s.group), s.scoreTop)
	}
}

// all says that each of so many queries sees n positions.
func (w *attention) all(n, queries int) []int32 {
	seen := w.seen[:queries]
	for r := range seen {
		seen[r] = int32(n)
	}
	return seen
}
