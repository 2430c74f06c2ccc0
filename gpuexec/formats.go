package gpuexec

import (
	"github.com/cbactor/cbactor/cuda/kernels"
	"github.com/cbactor/cbactor/model"
)

// embeddingName is the tensor whose rows tokens are looked up in.
const embeddingName = "model.embed_tokens.weight"

// formats decides what matrices lie on the device as. That follows from Config.Stored and Quantize, and
// stays.
type formats struct {
	stored   map[string]model.DType
	quantize Quantize
}

func formatsOf(c *Config) formats {
	f := formats{stored: make(map[string]model.DType, len(c.Stored)), quantize: c.Quantize}
	for _, t := range c.Stored {
		f.stored[t.Name] = t.DType
	}
	return f
}

// of is the format of one matrix of all sources: of those that they have, the one with the most bits.
func (f *formats) of(from ...source) kernels.Format {
	most := kernels.Q4
	for i := range from {
		most = min(most, f.quantized(f.stored[from[i].Tensor]))
	}
	return most
}

// ofTable is that of an embedding which is no head, whose rows are only looked up: nothing is gained by
// quantising it.
func (f *formats) ofTable() kernels.Format { return packedAs(f.stored[embeddingName]) }

// quantized is the format of a matrix of a product.
func (f *formats) quantized(stored model.DType) kernels.Format {
	if stored.Integer() || f.quantize == "" {
		return packedAs(stored)
	}
	if f.quantize == QuantizeQ4 {
		return kernels.Q4
	}
	return kernels.Q8
}

// packedAs is the format that has all of what is stored.
func packedAs(stored model.DType) kernels.Format {
	switch stored {
	case model.Q8_0:
		return kernels.Q8
	case model.Q4_0, model.Q4_1:
		return kernels.Q4
	}
	return kernels.BF16
}
