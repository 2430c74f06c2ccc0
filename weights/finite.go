package weights

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/cbactor/cbactor/model"
)

// exponent says where the exponents of a type are in eight bytes. A number is
// finite unless all bits of its exponent are set; only then does adding one at the
// exponent's lowest place carry into the sign's, and never beyond it.
type exponent struct{ bits, one, carry uint64 }

var exponents = [...]exponent{
	model.F32:  {0x7f800000_7f800000, 0x00800000_00800000, 0x80000000_80000000},
	model.F16:  {0x7c00_7c00_7c00_7c00, 0x0400_0400_0400_0400, 0x8000_8000_8000_8000},
	model.BF16: {0x7f80_7f80_7f80_7f80, 0x0080_0080_0080_0080, 0x8000_8000_8000_8000},
}

// notFinite is the index of the first NaN or infinite number of data, which are
// whole numbers of type t (F32, F16, BF16); -1: all are finite.
func notFinite(data []byte, t model.DType) int {
	e, size := exponents[t], t.RowBytes(1)
	bits, one := e.bits, e.one
	at := 0
	for ; at+32 <= len(data); at += 32 {
		p := (*[32]byte)(data[at:])
		carry := binary.LittleEndian.Uint64(p[0:8])&bits + one
		carry |= binary.LittleEndian.Uint64(p[8:16])&bits + one
		carry |= binary.LittleEndian.Uint64(p[16:24])&bits + one
		carry |= binary.LittleEndian.Uint64(p[24:32])&bits + one
		if carry&e.carry != 0 {
			break
		}
	}
	for ; at < len(data); at += size {
		if x := float64(number(data[at:], t)); math.IsNaN(x) || math.IsInf(x, 0) {
			return at / size
		}
	}
	return -1
}

// number widens the first number of data.
func number(data []byte, t model.DType) float32 {
	var x [1]float32
	model.Dequantize(x[:], data, t)
	return x[0]
}

// place spells an element of a tensor by its index in each dimension.
func place(name string, shape []int, index int) string {
	at := make([]int, len(shape))
	for i := len(shape) - 1; i >= 0; i-- {
		at[i] = index % shape[i]
		index /= shape[i]
	}
	return fmt.Sprintf("%s%d", name, at)
}
