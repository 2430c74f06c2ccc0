//go:build !noasm

package kernels

import "slices"

// attendRows computes a fixed number of queries with a tile of a cache of T; kPitch and
// stateSize are in bytes.
type attendRows[T float32 | uint16] struct {
	rows     int
	scores   func(q *float32, k, next *T, states *float32, kPitch, stateSize, dim int64)
	weighted func(p *float32, v, next *T, out *float32, n, stateSize, dim int64)
}

// tiled serves any number of queries by kernels for fixed ones, the largest first, the
// last for one.
type tiled[T float32 | uint16] struct {
	list   []attendRows[T]
	bend   func(x *float32, rows, stride int64, factor, top float32)
	soften func(states *float32, n *int32, rows, stateSize, dim int64)
	size   int // of T in bytes
	plain  func(q []float32, k, v, next []T, states []float32, kPitch int, n []int32, dim int, top float32)
}

// attend is Attend, or AttendBF16.
func (a tiled[T]) attend(q []float32, k, v, next []T, states []float32, kPitch int, n []int32, dim int, top float32) {
	if dim%lanes != 0 {
		a.plain(q, k, v, next, states, kPitch, n, dim, top)
		return
	}
	if len(next) == 0 {
		next = k
	}
	size, pitch := StateLen(dim), int64(a.size*kPitch)
	stateSize, dim64 := int64(4*size), int64(dim)
	_ = q[len(n)*dim-1] // the assembly trusts these
	_ = states[len(n)*size-1]
	_ = v[int(slices.Max(n))*dim-1]
	one := &a.list[len(a.list)-1]
	for r := 0; r < len(n); {
		f, state := &a.list[fitting(a.list, len(n)-r)], states[r*size:]
		f.scores(&q[r*dim], &k[0], &next[0], &state[0], pitch, stateSize, dim64)
		if top != 0 {
			a.bend(&state[stateP], int64(f.rows), stateSize, capScale, top)
		}
		a.soften(&state[0], &n[r], int64(f.rows), stateSize, dim64)
		seen := n[r:][:f.rows]
		all := slices.Min(seen)
		f.weighted(&state[stateP], &v[0], ahead(next, dim*Tile), &state[stateOut], int64(all), stateSize, dim64)
		for i, s := range seen {
			if s > all { // what not all of them see
				state := state[i*size:]
				one.weighted(&state[stateP+all], &v[int(all)*dim], &k[0], &state[stateOut], int64(s-all), stateSize, dim64)
			}
		}
		next = k
		r += f.rows
	}
}

// fitting is the first of list for no more than so many rows.
func fitting[T float32 | uint16](list []attendRows[T], rows int) int {
	i := 0
	for list[i].rows > rows {
		i++
	}
	return i
}

var (
	attendAVX2 = tiled[float32]{[]attendRows[float32]{
		{3, scores3F32AVX2, weighted3F32AVX2},
		{2, scores2F32AVX2, weighted2F32AVX2},
		{1, scores1F32AVX2, weighted1F32AVX2},
	}, capTileAVX2, softenAVX2, 4, attendGo}
	attendBF16AVX2 = tiled[uint16]{[]attendRows[uint16]{
		{3, scores3BF16AVX2, weighted3BF16AVX2},
		{2, scores2BF16AVX2, weighted2BF16AVX2},
		{1, scores1BF16AVX2, weighted1BF16AVX2},
	}, capTileAVX2, softenAVX2, 2, attendBF16Go}
	attendAVX512 = tiled[float32]{[]attendRows[float32]{
		{6, scores6F32AVX512, weighted6F32AVX512},
		{3, scores3F32AVX512, weighted3F32AVX512},
		{2, scores2F32AVX512, weighted2F32AVX512},
		{1, scores1F32AVX512, weighted1F32AVX512},
	}, capTileAVX512, softenAVX512, 4, attendGo}
	attendBF16AVX512 = tiled[uint16]{[]attendRows[uint16]{
		{6, scores6BF16AVX512, weighted6BF16AVX512},
		{3, scores3BF16AVX512, weighted3BF16AVX512},
		{2, scores2BF16AVX512, weighted2BF16AVX512},
		{1, scores1BF16AVX512, weighted1BF16AVX512},
	}, capTileAVX512, softenAVX512, 2, attendBF16Go}
)
