//go:build linux && !noasm && amd64

package kernels

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// pool is memory beyond the caches of a core, of CBACTOR_BENCH_MB megabytes (256): set 2048
// to leave the last-level cache too. Pages of it are read in a random order.
func pool(b *testing.B) []float32 {
	mb, err := strconv.Atoi(os.Getenv("CBACTOR_BENCH_MB"))
	if err != nil {
		mb = 256
	}
	return hugeFloats(b, mb<<18)
}

// BenchmarkRead is what attention is compared with: the pool, read once by one thread.
func BenchmarkRead(b *testing.B) {
	p := pool(b)
	b.SetBytes(int64(4 * len(p)))
	b.ResetTimer()
	for range b.N {
		sumSquares(&p[0], int64(len(p)/16))
	}
}

// BenchmarkReadPages is the same in a random order of pieces.
func BenchmarkReadPages(b *testing.B) {
	p := pool(b)
	for _, kb := range []int{4, 8, 16} {
		b.Run(fmt.Sprintf("%dKB", kb), func(b *testing.B) {
			size := kb << 8
			order := rand.New(rand.NewPCG(1, 1)).Perm(len(p) / size)
			b.SetBytes(int64(4 * size))
			for i := range b.N {
				sumSquares(&p[order[i%len(order)]*size], int64(size/16))
			}
		})
	}
}

// BenchmarkAttendPages is decode: 3 queries a key head with heads of 64, over 16 pages of
// 32 positions each, which lie anywhere.
func BenchmarkAttendPages(b *testing.B) {
	const dim, rows, pages = 64, 3, 16
	mem := pool(b)
	for _, s := range native() {
		for _, f := range forms(s) {
			for _, hint := range []bool{false, true} {
				b.Run(fmt.Sprintf("%s/%s/hint=%v", s.Name, f.name, hint), func(b *testing.B) {
					size := f.bytes(dim)
					order := rand.New(rand.NewPCG(1, 1)).Perm(4 * len(mem) / size)
					q := make([]float32, rows*dim)
					states, n := make([]float32, rows*StateLen(dim)), []int32{32, 32, 32}
					attend := f.over(mem, q, states, n, dim)
					b.SetBytes(int64(size))
					b.ResetTimer()
					for i := range b.N {
						if i%pages == 0 {
							for r := range rows {
								ResetState(states[r*StateLen(dim):][:StateLen(dim)])
							}
						}
						next := -1
						if hint {
							next = order[(i+1)%len(order)] * size
						}
						attend(order[i%len(order)]*size, next)
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/1000/float64(b.N), "us/page")
				})
			}
		}
	}
}

// BenchmarkAttendPrefill is 48 queries, 16 tokens of 3 heads, with a page; an operation is
// a multiplication or an addition of the definition.
func BenchmarkAttendPrefill(b *testing.B) {
	const dim, rows = 64, 48
	mem := make([]float32, 1<<16)
	for _, s := range native() {
		for _, f := range forms(s) {
			b.Run(s.Name+"/"+f.name, func(b *testing.B) {
				r := rand.New(rand.NewPCG(1, 1))
				states, n := make([]float32, rows*StateLen(dim)), make([]int32, rows)
				for i := range n {
					n[i] = Tile
					ResetState(states[i*StateLen(dim):][:StateLen(dim)])
				}
				attend := f.over(mem, random(r, rows*dim), states, n, dim)
				for range b.N {
					attend(0, -1)
				}
				perSecond := float64(b.N) / b.Elapsed().Seconds() / 1e9
				b.ReportMetric(perSecond*rows*Tile*dim*4, "GFLOP/s")
			})
		}
	}
}

// form is a type of cache, of one Set. over makes attention to the page at a place of
// mem, with the next one's, if it is none of -1, as a hint.
type form struct {
	name  string
	bytes func(dim int) int
	over  func(mem, q, states []float32, n []int32, dim int) func(at, next int)
}

func forms(s *Set) []form {
	return []form{
		{"f32", func(dim int) int { return 8 * dim * Tile }, func(mem, q, states []float32, n []int32, dim int) func(at, next int) {
			return func(at, next int) {
				var hint []float32
				if next >= 0 {
					hint = mem[next/4:]
				}
				s.Attend(q, mem[at/4:], mem[at/4+dim*Tile:], hint, states, Tile, n, dim, 0)
			}
		}},
		{"bf16", func(dim int) int { return 4 * dim * Tile }, func(mem, q, states []float32, n []int32, dim int) func(at, next int) {
			halves := unsafe.Slice((*uint16)(unsafe.Pointer(&mem[0])), 2*len(mem))
			return func(at, next int) {
				var hint []uint16
				if next >= 0 {
					hint = halves[next/2:]
				}
				s.AttendBF16(q, halves[at/2:], halves[at/2+dim*Tile:], hint, states, Tile, n, dim, 0)
			}
		}},
		{"int8", func(dim int) int { return 2*dim*Tile + 8*Tile }, func(mem, q, states []float32, n []int32, dim int) func(at, next int) {
			bytes := unsafe.Slice((*byte)(unsafe.Pointer(&mem[0])), 4*len(mem))
			packed := make([]byte, len(n)*QueryLen(dim))
			for r := range n {
				s.QuantiseQuery(q[r*dim:][:dim], packed[r*QueryLen(dim):][:QueryLen(dim)])
			}
			return func(at, next int) {
				var hint []byte
				if next >= 0 {
					hint = bytes[next:]
				}
				scales := mem[(at+2*dim*Tile)/4:]
				s.AttendInt8(packed, bytes[at:], bytes[at+dim*Tile:], hint, scales, scales[Tile:], states, Tile, n, dim, 0)
			}
		}},
	}
}

// hugeFloats is memory in huge pages, as the executor's pool is, with numbers in it.
func hugeFloats(b *testing.B, n int) []float32 {
	mem, err := unix.Mmap(-1, 0, 4*n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := unix.Munmap(mem); err != nil {
			b.Error(err)
		}
	})
	if err := unix.Madvise(mem, unix.MADV_HUGEPAGE); err != nil {
		b.Log("without huge pages:", err)
	}
	for i := range mem {
		mem[i] = 0x3f // as a float32, a bf16 and a byte a number like any
	}
	return unsafe.Slice((*float32)(unsafe.Pointer(&mem[0])), n)
}
