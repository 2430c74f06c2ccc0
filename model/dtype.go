package model

import (
	"fmt"
	"slices"
)

// DType is how numbers are stored in a file or a weight set.
type DType uint8

// The storage types that can be read. The block formats store consecutive numbers of a
// row together: those from Q8_0 on as ggml lays them out (ggml-common.h), FP8 as it is
// made of a safetensors pair.
const (
	Invalid DType = iota
	F32
	F16
	BF16
	Q8_0  // 32: f16 scale; w = d*q
	Q4_1  // 32: f16 scale and minimum; w = d*q + m
	Q4_0  // 32: f16 scale; w = d*(q-8)
	Q4_K  // 256: f16 scale and minimum, times 6-bit ones of each 32; w = d*s*q - m*t
	Q5_K  // as Q4_K, with 5 bits a number
	Q6_K  // 256: f16 scale, times an 8-bit one of each 16; w = d*s*(q-32)
	MXFP4 // 32: E8M0 scale, E2M1 numbers
	FP8   // 128: f32 scale, E4M3 numbers
)

type dtypeInfo struct {
	name         string
	block, bytes int  // elements of a block, bytes of a block
	integer      bool // a block is whole numbers under scales
}

var dtypes = [...]dtypeInfo{
	Invalid: {"invalid", 1, 0, false}, // a type that cannot be read has no size
	F32:     {"F32", 1, 4, false},
	F16:     {"F16", 1, 2, false},
	BF16:    {"BF16", 1, 2, false},
	Q8_0:    {"Q8_0", 32, 34, true},
	Q4_1:    {"Q4_1", 32, 20, true},
	Q4_0:    {"Q4_0", 32, 18, true},
	Q4_K:    {"Q4_K", 256, 144, true},
	Q5_K:    {"Q5_K", 256, 176, true},
	Q6_K:    {"Q6_K", 256, 210, true},
	MXFP4:   {"MXFP4", 32, 17, false},
	FP8:     {"FP8", 128, 132, false},
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

// Integer tells whether a block is whole numbers under scales, and minima, so that
// products of it can be summed in integers.
func (d DType) Integer() bool { return dtypes[d].integer }

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

// Transposed tells that rows are inputs, and not outputs as of any linear layer: so are the
// matrices of all experts in one tensor, [experts][in][out], where they are floats. In blocks,
// which lie along inputs, they are [experts][out][in].
func (t Tensor) Transposed() bool { return len(t.Shape) == 3 && t.DType.Block() == 1 }

// As is the tensor stored in another type, with the shape that it then has.
func (t Tensor) As(d DType) Tensor {
	was := t.Transposed()
	if t.DType = d; t.Transposed() != was {
		t.Shape = slices.Clone(t.Shape)
		t.Shape[1], t.Shape[2] = t.Shape[2], t.Shape[1]
	}
	return t
}

// Bytes is the stored size.
func (t Tensor) Bytes() int { return t.DType.RowBytes(t.Elements()) }
