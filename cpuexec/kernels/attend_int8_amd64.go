//go:build !noasm

package kernels

import "slices"

// attendInt8Rows computes a fixed number of queries with a tile of a cache in int8;
// kPitch and stateSize are in bytes.
type attendInt8Rows struct {
	scores   func(q, k, next *byte, kScales, states *float32, kPitch, n, stateSize, dim int64)
	weighted func(v *byte, vScales *float32, next *byte, states *float32, n *int32, groups, stateSize, dim int64)
}

// tiledInt8 serves any number of queries by kernels for 1, 2 and so on.
type tiledInt8 struct {
	list   []attendInt8Rows
	bend   func(x *float32, rows, stride int64, factor, top float32)
	soften func(states *float32, n *int32, next *byte, rows, stateSize, dim int64)
}

// attend is AttendInt8.
func (a tiledInt8) attend(q, k, v, next []byte, kScales, vScales, states []float32, kPitch int, n []int32, dim int, top float32) {
	if dim%lanes != 0 {
		attendInt8Go(q, k, v, next, kScales, vScales, states, kPitch, n, dim, top)
		return
	}
	if len(next) == 0 {
		next = k
	}
	most := int(slices.Max(n))
	groups := (most + 3) / 4
	_ = q[len(n)*QueryLen(dim)-1] // the assembly trusts these
	_ = states[len(n)*StateLen(dim)-1]
	_ = v[4*groups*dim-1]
	_, _ = kScales[most-1], vScales[most-1]
	pitch, stateSize, dim64 := int64(4*kPitch), int64(4*StateLen(dim)), int64(dim)
	for r := 0; r < len(n); {
		rows := min(len(a.list), len(n)-r)
		f, state := &a.list[rows-1], states[r*StateLen(dim):]
		// Of the next tile a line of 64 bytes is asked for with 4 dimensions of K, with 8 of
		// each query in soften, and beside V the rest.
		f.scores(&q[r*QueryLen(dim)], &k[0], &next[0], &kScales[0], &state[0], pitch, int64(most), stateSize, dim64)
		if top != 0 {
			a.bend(&state[stateP], int64(rows), stateSize, capScale, top)
		}
		a.soften(&state[0], &n[r], ahead(next, 16*dim), int64(rows), stateSize, dim64)
		f.weighted(&v[0], &vScales[0], ahead(next, (16+8*rows)*dim), &state[0], &n[r], int64(groups), stateSize, dim64)
		next = k
		r += rows
	}
}

// ahead is place i of what may be shorter.
func ahead[T any](next []T, i int) *T { return &next[min(i, len(next)-1)] }

var (
	attendInt8AVX2 = tiledInt8{[]attendInt8Rows{
		{scores1Int8AVX2, weighted1Int8AVX2},
		{scores2Int8AVX2, weighted2Int8AVX2},
	}, capTileAVX2, softenFetchAVX2}
	attendInt8AVX512 = tiledInt8{[]attendInt8Rows{
		{scores1Int8AVX512, weighted1Int8AVX512},
		{scores2Int8AVX512, weighted2Int8AVX512},
		{scores3Int8AVX512, weighted3Int8AVX512},
	}, capTileAVX512, softenFetchAVX512}
)
