package blockmgr

import (
	"errors"
	"slices"
	"testing"
)

func moved(key uint64, blocks ...int32) Moved {
	return Moved{Key: key, Blocks: []Added{{Blocks: blocks}}}
}

// What leaves comes back to other device blocks, in the order in which it left.
func TestHostKeepsTheOrderOfATable(t *testing.T) {
	h := NewHost([]int{4})
	var out, in Swapped
	if err := h.Swap(&Swap{Out: []Moved{moved(1, 7, 3, 9)}}, &out); err != nil {
		t.Fatal(err)
	}
	if h.Free() != 1 {
		t.Errorf("%d host blocks are free", h.Free())
	}
	if err := h.Swap(&Swap{In: []Moved{moved(1, 5, 6, 8, 2)}}, &in); err != nil {
		t.Fatal(err)
	}
	if h.Free() != 4 || len(out.Copies) != 3 || len(in.Copies) != 3 {
		t.Fatalf("%d free, out %+v, in %+v", h.Free(), out.Copies, in.Copies)
	}
	for i, want := range []struct{ from, to int32 }{{7, 5}, {3, 6}, {9, 8}} {
		o, n := out.Copies[i], in.Copies[i]
		if !o.Out || n.Out || o.Device != want.from || n.Device != want.to || o.Host != n.Host {
			t.Errorf("block %d went %+v and came back %+v", i, o, n)
		}
	}
}

// In one request blocks that are dropped may be used by what leaves, those of what
// comes back may not: they are read after what leaves was written.
func TestHostOrderWithinARequest(t *testing.T) {
	h := NewHost([]int{3})
	var first, second Swapped
	if err := h.Swap(&Swap{Out: []Moved{moved(1, 0), moved(2, 1)}}, &first); err != nil {
		t.Fatal(err)
	}
	if err := h.Swap(&Swap{Drop: []uint64{1}, Out: []Moved{moved(3, 4, 5)}, In: []Moved{moved(2, 6)}}, &second); err != nil {
		t.Fatal(err)
	}
	if n := len(second.Copies); n != 3 || !second.Copies[0].Out || !second.Copies[1].Out || second.Copies[2].Out {
		t.Fatalf("copies %+v, want two out and one in", second.Copies)
	}
	leaving := []int32{second.Copies[0].Host, second.Copies[1].Host}
	if slices.Contains(leaving, first.Copies[1].Host) || !slices.Contains(leaving, first.Copies[0].Host) {
		t.Errorf("copies %+v after %+v", second.Copies, first.Copies)
	}
	if h.Free() != 1 {
		t.Errorf("%d host blocks are free", h.Free())
	}
}

func TestHostRefusesABrokenProtocol(t *testing.T) {
	for name, r := range map[string]Swap{
		"more than there is": {Out: []Moved{moved(2, 1, 2, 3)}},
		"twice out":          {Out: []Moved{moved(1, 4)}},
		"unknown in":         {In: []Moved{moved(9, 4)}},
		"unknown drop":       {Drop: []uint64{9}},
		"back to fewer":      {In: []Moved{{Key: 1, Blocks: []Added{{}}}}},
	} {
		h := NewHost([]int{2})
		if err := h.Swap(&Swap{Out: []Moved{moved(1, 0)}}, new(Swapped)); err != nil {
			t.Fatal(err)
		}
		if err := h.Swap(&r, new(Swapped)); !errors.Is(err, ErrProtocol) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
