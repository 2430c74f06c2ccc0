package gpuexec

import (
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/cuda"
	"github.com/cbactor/cbactor/executor"
)

// TestInputIsPacked packs an input of every list, and finds each where it is said to be.
func TestInputIsPacked(t *testing.T) {
	c := &Config{MaxTokens: 100, MaxSlots: 2, MaxContext: 64, PageSize: 16, MaxAdapters: 2}
	in := newInput(c, 2)
	for p := range 70 {
		in.token(int32(p+5), p, 1)
	}
	in.attend(0, 70)
	a := &adapter{number: 1, rank: 32, joints: 5}
	in.adapt(a, 40, 10)
	in.adapt(a, 50, 20)
	in.change(&executor.Table{Slot: 1, Group: 1, Index: 2, Blocks: []int32{9, 8}}, 4)
	in.from, in.drawn, in.read = append(in.from, 69), append(in.drawn, 1), append(in.read, 3, 4)
	memory := make([]byte, 4*c.inputLen(2))
	const base = 1 << 20
	s, n, err := in.pack(memory, base)
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range []struct {
		at   cuda.Pointer
		want []int32
	}{{s.ids, in.ids}, {s.pos, in.pos}, {s.slots, in.slots}, {s.items, []int32{0, 64, 64, 6}}, {s.from, []int32{69}}, {s.drawn, []int32{1}}, {s.read, []int32{3, 4}}, {s.adapted, slices.Concat(make([]int32, 40), slices.Repeat([]int32{5}, 30))}, {s.loras, []int32{40, 16, 1, 32, 5, 56, 14, 1, 32, 5}}, {s.changes[1], []int32{6, 9, 7, 8}}} {
		var got []int32
		for i := range list.want {
			got = append(got, int32(binary.LittleEndian.Uint32(memory[int(list.at-base)+4*i:])))
		}
		if !slices.Equal(got, list.want) || list.at%16 != 0 || int(list.at-base) >= n {
			t.Errorf("at %d of %d there is %v, want %v", list.at-base, n, got, list.want)
		}
	}
	if _, _, err := in.pack(memory[:n-16], base); !errors.Is(err, executor.ErrContract) {
		t.Errorf("with less memory than that: %v", err)
	}
	in.reset()
	if _, n, err := in.pack(memory, base); n != 0 || err != nil {
		t.Errorf("an empty one takes %d bytes (%v)", n, err)
	}
}

// TestLastChangeOfAnEntryWins sets entries of a table twice, which the device would write in any order.
func TestLastChangeOfAnEntryWins(t *testing.T) {
	in := newInput(&Config{MaxTokens: 4, MaxSlots: 2, MaxContext: 64, PageSize: 16}, 1)
	for range 2 { // of the second step the first is forgotten
		for _, d := range []executor.Table{
			{Slot: 1, Blocks: []int32{9, 8, 7}}, {Slot: 0, Blocks: []int32{3}}, {Slot: 1, Index: 1, Blocks: []int32{5, 6, 4}},
		} {
			in.change(&d, 4)
		}
		if got, want := in.changes[0], []int32{4, 9, 5, 5, 6, 6, 0, 3, 7, 4}; !slices.Equal(got, want) {
			t.Errorf("entries and blocks are %v, want %v", got, want)
		}
		in.reset()
		d := executor.Table{Slot: 1, Index: 3, Blocks: []int32{2}}
		if in.change(&d, 4); !slices.Equal(in.changes[0], []int32{7, 2}) {
			t.Errorf("a step with one has %v", in.changes[0])
		}
		in.reset()
	}
}

// TestSizesAreThoseOfGraphs pads steps of each number of rows: Info tells what comes out.
func TestSizesAreThoseOfGraphs(t *testing.T) {
	c := &Config{MaxSlots: 300, MaxTokens: 2048}
	var want []int
	for n := range c.MaxSlots {
		if size := min(few(n+1), c.MaxSlots); !slices.Contains(want, size) {
			want = append(want, size)
		}
	}
	if got := sizes(c); !slices.Equal(got, want) || len(got) != 29 {
		t.Errorf("told are %v, want %v", got, want)
	}
}

// TestFewSizesOfGraphs looks at what steps of so many sequences are padded to.
func TestFewSizesOfGraphs(t *testing.T) {
	for n, want := range map[int]int{0: 0, 1: 1, 2: 2, 3: 4, 5: 8, 8: 8, 9: 16, 16: 16, 17: 24, 128: 128, 129: 144, 256: 256, 257: 288, 1000: 1024} {
		if got := few(n); got != want || few(got) != got {
			t.Errorf("%d tokens are padded to %d, want %d", n, got, want)
		}
	}
}
