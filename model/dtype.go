package model

import "fmt"

// DType is how numbers are stored in a file or a weight set.
type DType uint8

// The storage types that can be read. Q8_0 and Q4_1 are GGUF's block formats:
// 32 weights a block, with an f16 scale (Q8_0: w = d*q) or an f16 scale and an
// f16 minimum (Q4_1: w = d*q + m).
const (
	Invalid DType = iota
	F32
	F16
	BF16
	Q8_0
	Q4_1
)

type dtypeInfo struct {
	name         string
	block, bytes int // elements of a block, bytes of a block
}

var dtypes = [...]dtypeInfo{
	Invalid: {"invalid", 1, 0}, // a type that cannot be read has no size
	F32:     {"F32", 1, 4},
	F16:     {"F16", 1, 2},
	BF16:    {"BF16", 1, 2},
	Q8_0:    {"Q8_0", 32, 34},
	Q4_1:    {"Q4_1", 32, 20},
}

// String is the type's name as files spell it.
func (d DType) String() string {
	if int(d) >= len(dtypes) {
		return fmt.Sprintf("DType(%d)", uint8(d))
	}
	return dtypes[d].name
}

// Block is the number of elements that are stored together (1 for plain types).
func (d DType) Block() int { return dtypes[d].block }

// RowBytes is the size of n consecutive elements in bytes. n must be a multiple of Block.
func (d DType) RowBytes(n int) int { return n / dtypes[d].block * dtypes[d].bytes }

// Tensor describes one tensor under its Hugging Face name. Shape is row-major,
// outermost dimension first: a linear layer is [out, in].
type Tensor struct {
	Name  string
	DType DType
	Shape []int
}

// Elements is the product of the shape, 1 for a scalar.
func (t Tensor) Elements() int {
	n := 1
	for _, d := range t.Shape {
		n *= d
	}
	return n
}

// Bytes is the stored size.
func (t Tensor) Bytes() int { return t.DType.RowBytes(t.Elements()) }
