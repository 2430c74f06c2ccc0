package cuda_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"github.com/cbactor/cbactor/cuda"
	"github.com/cbactor/cbactor/cuda/emu"
)

// backs are the two ways to run a kernel, in several orders of threads.
var backs = []emu.Options{{}, {Order: 1}, {Order: 7}, {PTX: kernels + "/all.ptx"}, {PTX: kernels + "/all.ptx", Order: 1}, {PTX: kernels + "/all.ptx", Order: 7}}

func each(t *testing.T, run func(r *rig)) {
	t.Helper()
	for _, o := range backs {
		t.Run(fmt.Sprintf("PTX=%t,order=%d", o.PTX != "", o.Order), func(t *testing.T) { run(newRig(t, o)) })
	}
}

// run copies in to the device, launches one block and waits for out.
func (r *rig) run(name string, threads int, out []vector, in []vector, args ...cuda.Arg) {
	r.Helper()
	for _, v := range append(append([]vector{}, in...), out...) {
		r.ok(r.stream.CopyIn(v.device, v.host))
	}
	r.ok(r.function(name).Launch(r.stream, cuda.Grid{X: 1, Y: 1, Z: 1}, cuda.Grid{X: uint32(threads), Y: 1, Z: 1}, 0, args...))
	for _, v := range out {
		r.ok(r.stream.CopyOut(v.host, v.device))
	}
	r.ok(r.stream.Synchronize())
}

// One product of a tensor core is that of the matrices. Small whole numbers are exact in bf16.
func TestTensorCore(t *testing.T) {
	each(t, func(r *rig) {
		a, b, d := r.vector(make([]float32, 128)...), r.vector(make([]float32, 64)...), r.vector(make([]float32, 128)...)
		number := func(i int) float32 { return float32(i*7%11 - 5) }
		for i := range 256 {
			binary.LittleEndian.PutUint16(a.host[2*i:], uint16(math.Float32bits(number(i))>>16))
		}
		for i := range 128 {
			binary.LittleEndian.PutUint16(b.host[2*i:], uint16(math.Float32bits(number(i+3))>>16))
		}
		r.run("product", 32, []vector{d}, []vector{a, b}, cuda.Address(d.device), cuda.Address(a.device), cuda.Address(b.device))
		for row := range 16 {
			for col := range 8 {
				want := float32(0)
				for k := range 16 {
					want += number(row*16+k) * number(col*16+k+3)
				}
				if got := d.at(row*8 + col); got != want {
					r.Fatalf("row %d, column %d is %v, not %v", row, col, got, want)
				}
			}
		}
	})
}

func TestAsyncCopies(t *testing.T) {
	each(t, func(r *rig) {
		const tiles, n = 3, 300
		in, out := r.vector(ascending(n)...), r.vector(make([]float32, 128*tiles)...)
		r.run("staged", 32, []vector{out}, []vector{in}, cuda.Address(out.device), cuda.Address(in.device), cuda.Int(tiles), cuda.Int(n))
		for i := range 128 * tiles {
			from := i/128*128 + 127 - i%128
			want := float32(from)
			if from >= n {
				want = 0
			}
			if out.at(i) != want {
				r.Fatalf("element %d is %v, not %v", i, out.at(i), want)
			}
		}
	})
}

func TestVotesAndShuffles(t *testing.T) {
	each(t, func(r *rig) {
		odd, sum := r.vector(make([]float32, 64)...), r.vector(make([]float32, 64)...)
		r.run("votes", 64, []vector{odd, sum}, nil, cuda.Address(odd.device), cuda.Address(sum.device))
		for i := range 64 {
			if want := float32(i/32*32*32 + 496); odd.at(i) != 1 || sum.at(i) != want {
				r.Fatalf("thread %d: %v, sum %v, not %v", i, odd.at(i), sum.at(i), want)
			}
		}
	})
}

func TestAtomicSums(t *testing.T) {
	each(t, func(r *rig) {
		counts := r.vector(0, 0, 0, 0) // whose bits are those of the whole number
		r.run("count", 256, []vector{counts}, nil, cuda.Address(counts.device))
		for i := range 4 {
			if n := binary.LittleEndian.Uint32(counts.host[4*i:]); n != 64 {
				r.Fatalf("%d threads of kind %d, not 64", n, i)
			}
		}
	})
}
