package kernels

import (
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

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
