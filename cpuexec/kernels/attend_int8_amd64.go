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
	soften func(states *float32, n *int32, rows, stateSize, dim int64)
}

// attend is AttendInt8.
func (a tiledInt8) attend(q, k, v, next []byte, kScales, vScales, states []float32, kPitch int, n []int32, dim int) {
	if dim%lanes != 0 {
		attendInt8Go(q, k, v, next, kScales, vScales, states, kPitch, n, dim)
		return
	}
	next, second := halves(next, k, dim*Tile)
	most := int(slices.Max(n))
	groups := (most + 3) / 4
	_ = q[len(n)*QueryLen(dim)-1] // the assembly trusts these
	_ = states[len(n)*StateLen(dim)-1]
	_ = v[4*groups*dim-1]
	_, _ = kScales[most-1], vScales[most-1]
	pitch, stateSize, dim64 := int64(4*kPitch), int64(4*StateLen(dim)), int64(dim)
	for r := 0; r < len(n); {
		rows := min(len(a.list), len(n)-r)
		a.list[rows-1].scores(&q[r*QueryLen(dim)], &k[0], &next[0], &kScales[0], &states[r*StateLen(dim)],
			pitch, int64(most), stateSize, dim64)
		r += rows
	}
	a.soften(&states[0], &n[0], int64(len(n)), stateSize, dim64)
	for r := 0; r < len(n); {
		rows := min(len(a.list), len(n)-r)
		a.list[rows-1].weighted(&v[0], &vScales[0], &second[0], &states[r*StateLen(dim)], &n[r],
			int64(groups), stateSize, dim64)
		r += rows
	}
}

var (
	attendInt8AVX2 = tiledInt8{[]attendInt8Rows{
		{scores1Int8AVX2, weighted1Int8AVX2},
		{scores2Int8AVX2, weighted2Int8AVX2},
	}, softenAVX2}
	attendInt8AVX512 = tiledInt8{[]attendInt8Rows{
		{scores1Int8AVX512, weighted1Int8AVX512},
		{scores2Int8AVX512, weighted2Int8AVX512},
		{scores3Int8AVX512, weighted3Int8AVX512},
	}, softenAVX512}
)
