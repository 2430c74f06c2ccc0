package gpuexec

import (
	"encoding/binary"

	"github.com/cbactor/cbactor/cuda/kernels"
	"github.com/cbactor/cbactor/model"
	"github.com/cbactor/cbactor/weights"
)

// panel writes panel i of f: rows that are stored in blocks of the format as they are, and others
// quantised.
func (w *filler) panel(f *fill, dst []byte, i int) {
	clear(dst)
	first := i * f.format.Height()
	for r := range min(f.format.Height(), rowsOf(f.from)-first) {
		if t, row := w.stored(f, first+r); packedAs(t.DType) == f.format {
			packStored(dst, &t, f.in, row, r)
		} else {
			w.packNumbers(f, dst, &t, row, r)
		}
	}
}

// packStored puts a stored row of n numbers into row r of a panel.
func packStored(panel []byte, t *weights.Tensor, n, row, r int) {
	size, block := t.DType.RowBytes(n), t.DType.RowBytes(kernels.Block)
	for b, data := 0, t.Data[row*size:][:size]; len(data) > 0; b, data = b+1, data[block:] {
		switch t.DType {
		case model.Q8_0:
			kernels.PackQ8(panel, data, r, b)
		case model.Q4_1:
			kernels.PackQ4(panel, data, r, b)
		case model.Q4_0:
			with := withMinimum(data)
			kernels.PackQ4(panel, with[:], r, b)
		}
	}
}

// withMinimum is a block of Q4_0, w = d*(q-8), as one of Q4_1, w = d*q+m, with m = -8*d. That is exact
// as long as d is less than 8192; of more, which no model has, m is infinite.
func withMinimum(stored []byte) (block [20]byte) {
	d := model.FromF16(binary.LittleEndian.Uint16(stored))
	copy(block[:2], stored)
	binary.LittleEndian.PutUint16(block[2:], model.ToF16(-8*d))
	copy(block[4:], stored[2:])
	return block
}

// packNumbers quantises a stored row for row r of a panel.
func (w *filler) packNumbers(f *fill, panel []byte, t *weights.Tensor, row, r int) {
	numbers := append(w.read(t, f.in, row), make([]float32, f.width-f.in)...)
	for b := 0; len(numbers) > 0; b, numbers = b+1, numbers[kernels.Block:] {
		block := (*[kernels.Block]float32)(numbers)
		if f.format == kernels.Q8 {
			var stored [34]byte
			model.QuantizeQ8(&stored, block)
			kernels.PackQ8(panel, stored[:], r, b)
		} else {
			var stored [20]byte
			model.QuantizeQ4(&stored, block)
			kernels.PackQ4(panel, stored[:], r, b)
		}
	}
}
