package blockmgr

import (
	"slices"
	"testing"
)

func TestRowAddresses(t *testing.T) {
	r := Rows{PageSize: 4, Layers: 2, PerSector: 3}
	if r.FirstBlock() != 6 || r.Stride() != 16 || r.Trash() != 48 || r.Keys(1) != 8 || r.Values(1) != 12 || r.Values(0) != 4 {
		t.Errorf("first block %d, stride %d, trash %d, second layer %d and %d", r.FirstBlock(), r.Stride(), r.Trash(), r.Keys(1), r.Values(1))
	}
}

func TestSlidingRowsAreTheReferences(t *testing.T) {
	r := Rows{PageSize: 4, Layers: 1, PerSector: 1, Window: 8, Table: []int32{2, 3}}
	for _, c := range []struct {
		past, query int
		read, write []int
	}{
		{0, 3, []int{1, 1, 1}, []int{16, 17, 18}},
		{5, 1, []int{16, 17, 18, 19, 24, 1}, []int{25}},
		{10, 1, []int{19, 24, 25, 26, 27, 16, 17, 1}, []int{18}},
		{0, 10, []int{1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, []int{8, 8, 18, 19, 24, 25, 26, 27, 16, 17}},
		{14, 3, []int{27, 16, 17, 18, 19, 24, 25, 1, 1, 1}, []int{26, 27, 16}},
	} {
		if got := r.SlidingRead(c.past, c.query); !slices.Equal(got, c.read) {
			t.Errorf("past %d, query %d: read %v, want %v", c.past, c.query, got, c.read)
		}
		if got := r.SlidingWrite(c.past, c.query); !slices.Equal(got, c.write) {
			t.Errorf("past %d, query %d: write %v, want %v", c.past, c.query, got, c.write)
		}
	}
}

// Whatever the chunks, a read finds the newest Window-1 tokens in order.
func TestTheRingKeepsTheWindow(t *testing.T) {
	for _, chunks := range [][]int{{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, {3, 1, 1, 5, 1}, {12, 1, 1}, {8, 8, 8}, {4, 4, 1}, {20, 30, 2, 1}} {
		r := Rows{PageSize: 4, Layers: 3, PerSector: 2, Window: 8, Table: []int32{7, 4}}
		holds, past := map[int]int{}, 0 // row: position
		for _, q := range chunks {
			read := r.SlidingRead(past, q)
			kept := min(past, r.Window-1)
			for i, row := range read[:kept] {
				if holds[row] != past-kept+i {
					t.Errorf("chunks %v: before position %d entry %d reads position %d", chunks, past, i, holds[row])
				}
			}
			for i, row := range r.SlidingWrite(past, q) {
				if row != r.Trash() {
					holds[row] = past + i
				}
			}
			past += q
		}
	}
}

func TestFullRowsAreTheReferences(t *testing.T) {
	r := Rows{PageSize: 4, Layers: 2, PerSector: 1, Table: []int32{5, 2}}
	if got := r.FullRead(3, 2); !slices.Equal(got, []int{80, 81, 82, 83, 32}) {
		t.Errorf("read %v", got)
	}
	if got := r.FullWrite(3, 2); !slices.Equal(got, []int{83, 32}) {
		t.Errorf("write %v", got)
	}
}

func TestBucketsAreTheReferences(t *testing.T) {
	b := NewBuckets(3, 4)
	if !slices.Equal(b.Sectors, []int{2, 3, 4}) {
		t.Fatal(b.Sectors)
	}
	b.OpenSector()
	if k := b.Open[0]; k.Sector != 4 || !slices.Equal(k.Blocks, []int32{19, 18, 17, 16}) {
		t.Errorf("opened %+v", k)
	}
	if got := b.Take(3); !slices.Equal(got, []int32{18, 17, 16}) {
		t.Errorf("took %v", got)
	}
	b.OpenSector()
	if got := b.Take(3); !slices.Equal(got, []int32{19, 13, 12}) {
		t.Errorf("took %v", got)
	}
	if got := b.Take(3); got != nil {
		t.Errorf("took %v of 2", got)
	}
	b.Free(19, 12)
	if k := b.Open[0]; k.Sector != 3 || !slices.Equal(k.Blocks, []int32{15, 14, 12}) {
		t.Errorf("back: %+v", k)
	}
	if k := b.Open[1]; k.Sector != 4 || !slices.Equal(k.Blocks, []int32{19}) {
		t.Errorf("back: %+v", k)
	}
	b.Free(13)
	if b.Reclaim(); !slices.Equal(b.Sectors, []int{2, 3}) || len(b.Open) != 1 {
		t.Errorf("reclaimed: %+v", b)
	}
}

// The reference's block hash is BLAKE2b over the hash of the parent and the page's
// tokens. Ours is keyed and another function, so its golden values cannot be ours;
// what they show of the chain can: the same parent and tokens give the same hash,
// and a difference in either, in a block's place or in the root another one.
func TestTheHashIsAChain(t *testing.T) {
	tr := tree{key: 1}
	root := tr.root(0, 0)
	first := extend(root, []int32{100, 101, 102, 103})
	second := extend(first, []int32{104, 105, 106, 107})
	if again := extend(extend(root, []int32{100, 101, 102, 103}), []int32{104, 105, 106, 107}); again != second {
		t.Errorf("the same chain is %d and %d", second, again)
	}
	seen := map[uint64]string{first: "first page", second: "second page", root: "root"}
	for name, h := range map[string]uint64{
		"other tokens":          extend(root, []int32{0, 1, 2, 3}),
		"second without first":  extend(root, []int32{104, 105, 106, 107}),
		"swapped pages":         extend(extend(root, []int32{104, 105, 106, 107}), []int32{100, 101, 102, 103}),
		"swapped tokens":        extend(root, []int32{101, 100, 102, 103}),
		"one token differs":     extend(first, []int32{104, 105, 106, 108}),
		"one token less":        extend(first, []int32{104, 105, 106}),
		"under another salt":    extend(tr.root(1, 0), []int32{100, 101, 102, 103}),
		"of another epoch":      extend(tr.root(0, 1), []int32{100, 101, 102, 103}),
		"under another key":     extend((&tree{key: 2}).root(0, 0), []int32{100, 101, 102, 103}),
		"salt and epoch change": extend(tr.root(1, 1), []int32{100, 101, 102, 103}),
	} {
		if other, ok := seen[h]; ok {
			t.Errorf("%s has the hash of %s", name, other)
		}
		seen[h] = name
	}
}
