package gpuexec

import "github.com/cbactor/cbactor/cuda"

// partAlign is where each part of a piece of device memory begins: what the driver aligns
// allocations to.
const partAlign = 256

// cutter cuts parts out of one piece of device memory. One that begins at 0 only counts: its used
// is then how much memory the parts take, so that a plan is what is allocated.
type cutter struct {
	base cuda.Pointer
	used int64
}

// bytes cuts n of them.
func (c *cutter) bytes(n int64) cuda.Pointer {
	at := c.base + cuda.Pointer(c.used)
	c.used += (n + partAlign - 1) / partAlign * partAlign
	return at
}

// f32 and i32 cut numbers of 4 bytes, bf16 of 2.
func (c *cutter) f32(n int) cuda.Pointer  { return c.bytes(4 * int64(n)) }
func (c *cutter) i32(n int) cuda.Pointer  { return c.bytes(4 * int64(n)) }
func (c *cutter) bf16(n int) cuda.Pointer { return c.bytes(2 * int64(n)) }

// depthStep is what the inputs of a product are padded to a multiple of, with zeros.
const depthStep = 32

// padded rounds up to that.
func padded(n int) int { return (n + depthStep - 1) / depthStep * depthStep }

// pages is the number of pages that n tokens take.
func pages(n, pageSize int) int { return (n + pageSize - 1) / pageSize }
