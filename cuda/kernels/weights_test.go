package kernels

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/cbactor/cbactor/model"
)

var formats = []Format{BF16, Q8, Q4}

// matrix puts random weights in a format, and answers them as they are there.
func (r *rig) matrix(f Format, n, k int) (Weights, []float32) { return r.matrices(f, 1, n, k) }

// matrices puts several, one behind the other. Blocks differ in size, and some have only numbers of one
// sign.
func (r *rig) matrices(f Format, count, n, k int) (Weights, []float32) {
	r.Helper()
	w := r.numbers(count*n*k, 1)
	if f == BF16 {
		return Weights{At: r.halves(w)}, w
	}
	data := make([]byte, 0, int64(count)*f.Bytes(n, k))
	for first := 0; first < count*n; first += n {
		for at := 0; at < n; at += f.Height() {
			panel := make([]byte, f.PanelBytes(k))
			for row := range min(f.Height(), n-at) {
				for b := range k / Block {
					numbers := (*[Block]float32)(w[(first+at+row)*k+b*Block:])
					for i := range numbers {
						numbers[i] = numbers[i]/float32(1+(row+3*b)%5) + float32((row+b)%3-1)
					}
					r.quantize(f, panel, numbers, row, b)
				}
			}
			data = append(data, panel...)
		}
	}
	return Weights{At: r.put(data), Format: f}, w
}

// quantize puts a block into a panel, and makes of its numbers what they are there.
func (r *rig) quantize(f Format, panel []byte, numbers *[Block]float32, row, b int) {
	if f == Q8 {
		var stored [34]byte
		model.QuantizeQ8(&stored, numbers)
		model.Dequantize(numbers[:], stored[:], model.Q8_0)
		PackQ8(panel, stored[:], row, b)
		return
	}
	var stored [20]byte
	model.QuantizeQ4(&stored, numbers)
	model.Dequantize(numbers[:], stored[:], model.Q4_1)
	PackQ4(panel, stored[:], row, b)
}

// Scales are halves of any kind: the embedding of a row has the number 1 times each.
func TestScalesAreHalves(t *testing.T) {
	scales := []uint16{0, 0x8000, 1, 0x8001, 0x3ff, 0x400, 0x401, 0x3c00, 0xc123, 0x7bff, 0xfbff, 0x7c00, 0xfc00}
	onBoth(t, func(r *rig) {
		panel := make([]byte, Q8.PanelBytes(Block))
		ids, none := make([]int32, len(scales)), make([]int32, len(scales))
		for i, d := range scales {
			stored := make([]byte, 34)
			binary.LittleEndian.PutUint16(stored, d)
			stored[2] = 1
			PackQ8(panel, stored, i, 0)
			ids[i] = int32(i)
		}
		x := r.room(4 * len(scales))
		r.ok(r.set.Embed(r.stream, x, Weights{At: r.put(panel), Format: Q8}, r.ints(ids...), r.ints(none...), r.ints(none...), len(scales), 1, Block, 1))
		for i, got := range r.getFloats(x, len(scales)) {
			if want := model.FromF16(scales[i]); math.Float32bits(got) != math.Float32bits(want) {
				r.Errorf("the half %#x is %g, want %g", scales[i], got, want)
			}
		}
	})
}

// TestSizes looks at what matrices take, whose rows are padded to whole panels.
func TestSizes(t *testing.T) {
	for _, c := range []struct {
		format Format
		n      int
		bytes  int64
	}{{BF16, 33, 33 * 2 * 64}, {Q8, 32, 32 * 2 * 34}, {Q8, 33, 64 * 2 * 34}, {Q4, 31, 32 * 2 * 20}} {
		if got := c.format.Bytes(c.n, 64); got != c.bytes {
			t.Errorf("%d rows of 64 in %s take %d bytes, want %d", c.n, c.format, got, c.bytes)
		}
	}
}
