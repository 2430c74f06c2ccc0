package cpuexec

import (
	"fmt"
	"unsafe"
)

// area is memory outside the Go heap, zero and untouched when new, out of which
// arrays are cut. It begins at a page of the system.
type area struct {
	what string
	size int64
	huge bool
	mem  []byte
	used int
}

// newArea maps size bytes, which may be 0. huge asks for huge pages, where the
// system has them: for memory that is used in large pieces.
func newArea(what string, size int64, huge bool) (*area, error) {
	a := &area{what: what, size: size, huge: huge}
	return a, a.take()
}

// take maps the memory, which was not or was given back: zero and untouched, to be cut
// anew.
func (a *area) take() error {
	if a.size == 0 || a.mem != nil {
		return nil // systems refuse to map nothing
	}
	mem, err := mapMemory(int(a.size), a.huge)
	if err != nil {
		return fmt.Errorf("%w: %d bytes for %s: %w", ErrMemory, a.size, a.what, err)
	}
	a.mem, a.used = mem, 0
	return nil
}

// number is what memory is cut into.
type number interface {
	byte | uint16 | float32 | int32
}

// cut takes the next n elements, rounded up to cache lines. Asking for more than was
// planned is a bug and panics.
func cut[T number](a *area, n int) []T {
	size := n * int(unsafe.Sizeof(*new(T)))
	part := a.mem[a.used:][:lineBytes(int64(size))]
	a.used += len(part)
	return view[T](part[:size])
}

// view is memory as numbers of a type; nil for none.
func view[T number](mem []byte) []T {
	if len(mem) == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&mem[0])), len(mem)/int(unsafe.Sizeof(*new(T))))
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
