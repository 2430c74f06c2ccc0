package main

import (
	"encoding/binary"
	"math/rand/v2"

	"github.com/cbactor/cbactor/model"
	"github.com/cbactor/cbactor/weights"
)

// randomBytes is how much of random numbers there is: what is larger repeats it.
const randomBytes = 8 << 20

// randoms is numbers of bf16, small enough for a deep model's stream to stay finite.
func randoms() []byte {
	random, data := rand.New(rand.NewPCG(1, 2)), make([]byte, randomBytes)
	for i := 0; i < len(data); i += 2 {
		binary.LittleEndian.PutUint16(data[i:], model.ToBF16(float32(0.02*random.NormFloat64())))
	}
	return data
}

// fill fills dst with data, as often as it takes.
func fill(dst, data []byte) {
	for len(dst) > 0 {
		dst = dst[copy(dst, data):]
	}
}

// source is a checkpoint of random numbers.
type source struct {
	m    *model.Config
	data []byte
}

// Tensors implements weights.Source.
func (s source) Tensors() []model.Tensor {
	list := s.m.Tensors()
	for i := range list {
		list[i] = list[i].As(model.BF16)
	}
	return list
}

// ReadTensor implements weights.Source.
func (s source) ReadTensor(_ string, dst []byte) error {
	fill(dst, s.data)
	return nil
}

// randomWeights makes a set of m. It takes the host as much memory as the model has.
func randomWeights(m *model.Config, data []byte) (*weights.Set, error) {
	return weights.Load(m, source{m, data}, 1, "random")
}
