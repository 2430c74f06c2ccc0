package cpuexec

import (
	"github.com/cbactor/cbactor/cpuexec/kernels"
	"github.com/cbactor/cbactor/model"
)

// blockType is a storage type whose blocks a format has as they are: not a bit of a number
// is lost, and of what two of its scales give together no more than float32 rounds.
type blockType struct {
	stored   model.DType
	pack     func(panel, stored []byte, c, b int)
	quantize func(dst []byte, x []float32) // a block of it
}

// maxBlock is the most bytes that a block of one has.
const maxBlock = 210

// blockTypes are those of formats that have one.
var blockTypes = [...]blockType{
	kernels.MXFP4: {model.MXFP4, kernels.PackMXFP4, func(dst []byte, x []float32) { model.QuantizeMXFP4((*[17]byte)(dst), (*[32]float32)(x)) }},
	kernels.Q8:    {model.Q8_0, kernels.PackQ8, func(dst []byte, x []float32) { model.QuantizeQ8((*[34]byte)(dst), (*[32]float32)(x)) }},
	kernels.Q4:    {model.Q4_1, kernels.PackQ4, func(dst []byte, x []float32) { model.QuantizeQ4((*[20]byte)(dst), (*[32]float32)(x)) }},
	kernels.Q40:   {model.Q4_0, kernels.PackQ40, func(dst []byte, x []float32) { model.QuantizeQ40((*[18]byte)(dst), (*[32]float32)(x)) }},
	kernels.Q4K:   {model.Q4_K, kernels.PackQ4K, func(dst []byte, x []float32) { model.QuantizeQ4K((*[144]byte)(dst), (*[256]float32)(x)) }},
	kernels.Q5K:   {model.Q5_K, kernels.PackQ5K, func(dst []byte, x []float32) { model.QuantizeQ5K((*[176]byte)(dst), (*[256]float32)(x)) }},
	kernels.Q6K:   {model.Q6_K, kernels.PackQ6K, func(dst []byte, x []float32) { model.QuantizeQ6K((*[210]byte)(dst), (*[256]float32)(x)) }},
}

// blockFormat is the format that has blocks of a type as they are.
func blockFormat(stored model.DType) (f kernels.Format, ok bool) {
	for f, t := range blockTypes {
		if t.stored == stored && stored != model.Invalid {
			return kernels.Format(f), true
		}
	}
	return 0, false
}
