package cpuexec

import (
	"fmt"
	"unsafe"
)

// area is memory outside the Go heap, zero and untouched when new, out of which
// arrays are cut. It begins at a page of the system.
type area struct {
	mem  []byte
	used int
}

// newArea maps size bytes, which may be 0. huge asks for huge pages, where the
// system has them: for memory that is used whole.
func newArea(what string, size int64, huge bool) (*area, error) {
	if size == 0 {
		return new(area), nil // systems refuse to map nothing
	}
	mem, err := mapMemory(int(size), huge)
	if err != nil {
		return nil, fmt.Errorf("%w: %d bytes for %s: %w", ErrMemory, size, what, err)
	}
	return &area{mem: mem}, nil
}

// cut takes the next n elements of 4 bytes, rounded up to cache lines. Asking for
// more than was planned is a bug and panics.
func cut[T float32 | int32](a *area, n int) []T {
	part := a.mem[a.used : a.used+int(lines(n))]
	a.used += len(part)
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&part[0])), n)
}

// part takes the next size bytes as an area of its own, which is not to be freed.
func (a *area) part(size int64) area {
	part := a.mem[a.used : a.used+int(size)]
	a.used += len(part)
	return area{mem: part[:size:size]}
}

// free gives the memory back; what was cut must not be used any more.
func (a *area) free() error {
	mem := a.mem
	a.mem = nil
	if mem == nil {
		return nil
	}
	return unmapMemory(mem)
}
