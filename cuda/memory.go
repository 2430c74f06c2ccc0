package cuda

import (
	"fmt"
	"unsafe"
)

// Pointer is an address in a device's memory. Sums with offsets in bytes are addresses, too.
type Pointer uint64

// Memory tells how many bytes of the device's memory are free, and how many it has.
func (c *Context) Memory() (free, total uint64, err error) {
	var a [11]uintptr
	err = c.lib.check(cuMemGetInfo, c.lib.driver.call(cuMemGetInfo, &a, 3, -1, nil))
	return uint64(a[0]), uint64(a[1]), err
}

// Alloc takes n bytes of the device's memory, aligned to 256, with unknown content.
// ErrOutOfMemory where there is no room.
func (c *Context) Alloc(n int) (Pointer, error) {
	if n <= 0 {
		return 0, fmt.Errorf("%w: %d bytes of device memory were asked for", ErrCall, n)
	}
	p, err := c.lib.value(cuMemAlloc, uintptr(n))
	return Pointer(p), err
}

// Free gives back what Alloc took. It waits for work on the device.
func (c *Context) Free(p Pointer) error { return c.lib.call(cuMemFree, uintptr(p)) }

// AllocHost takes n bytes of this process's memory that stay where they are and that the
// device reads and writes by itself ("pinned"), with unknown content. The slice is not
// the garbage collector's; FreeHost gives it back.
func (c *Context) AllocHost(n int) ([]byte, error) {
	if n <= 0 {
		return nil, fmt.Errorf("%w: %d bytes of pinned memory were asked for", ErrCall, n)
	}
	p, err := c.lib.value(cuMemHostAlloc, uintptr(n), 0)
	if err != nil {
		return nil, err
	}
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&p)), n), nil
}

// FreeHost gives back what AllocHost took: the same slice, from its beginning.
func (c *Context) FreeHost(b []byte) error {
	return c.lib.with(unsafe.Pointer(unsafe.SliceData(b)), 0, cuMemFreeHost)
}
