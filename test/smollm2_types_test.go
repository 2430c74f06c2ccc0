package test

import (
	"math"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/cpuexec"
	"github.com/cbactor/cbactor/model"
	"github.com/cbactor/cbactor/weights"
)

// requantised is a checkpoint whose matrices are quantised once more: to the types of 256
// numbers in turn where rows can be stored so, else to Q4_0; the embedding stays what it is.
type requantised struct {
	*checkpoint.Checkpoint
	tensors []model.Tensor
}

func requantise(c *checkpoint.Checkpoint) *requantised {
	r, next := &requantised{Checkpoint: c}, 0
	for _, t := range c.Tensors() {
		if len(t.Shape) == 2 && strings.Contains(t.Name, "layers") {
			t.DType = model.Q4_0
			if t.Shape[1]%256 == 0 {
				t.DType = []model.DType{model.Q4_K, model.Q5_K, model.Q6_K}[next%3]
				next++
			}
		}
		r.tensors = append(r.tensors, t)
	}
	return r
}

// Tensors implements weights.Source.
func (r *requantised) Tensors() []model.Tensor { return r.tensors }

// ReadTensor implements weights.Source.
func (r *requantised) ReadTensor(name string, dst []byte) error {
	for i, was := range r.Checkpoint.Tensors() {
		if was.Name != name {
			continue
		}
		to := r.tensors[i].DType
		if to == was.DType {
			break
		}
		data, x := make([]byte, was.Bytes()), make([]float32, was.Elements())
		if err := r.Checkpoint.ReadTensor(name, data); err != nil {
			return err
		}
		model.Dequantize(x, data, was.DType)
		for n, size := to.Block(), to.RowBytes(to.Block()); len(x) > 0; x, dst = x[n:], dst[size:] {
			quantise(dst[:size], x[:n], to)
		}
		return nil
	}
	return r.Checkpoint.ReadTensor(name, dst)
}

// quantise makes a block of a type.
func quantise(dst []byte, x []float32, to model.DType) {
	switch to {
	case model.Q4_0:
		model.QuantizeQ40((*[18]byte)(dst), (*[32]float32)(x))
	case model.Q4_K:
		model.QuantizeQ4K((*[144]byte)(dst), (*[256]float32)(x))
	case model.Q5_K:
		model.QuantizeQ5K((*[176]byte)(dst), (*[256]float32)(x))
	case model.Q6_K:
		model.QuantizeQ6K((*[210]byte)(dst), (*[256]float32)(x))
	}
}

// A model in Q4_0 and the types of 256 numbers is computed in int8 from its own blocks: the
// mean negative log-likelihood is that of the same weights in float32, nearly, and not far
// from the reference's, whose weights they were made of.
func TestSmolLM2InOtherTypes(t *testing.T) {
	if testing.Short() {
		t.Skip("computes the text twice, once in float32")
	}
	g, c := smol(t)
	set, err := weights.Load(c.Config, requantise(c), 1, "")
	if err != nil {
		t.Fatal(err)
	}
	exact := newForced(t, cpuexec.Config{Model: c.Config, Weights: set}).likelihood(g.NLLIDs)
	got := newForced(t, cpuexec.Config{Model: c.Config, Weights: set, Compute: cpuexec.ComputeInt8}).likelihood(g.NLLIDs)
	t.Logf("golden: smollm2 in Q4_0, Q4_K, Q5_K and Q6_K: mean negative log-likelihood %.6f, in float32 %.6f, of the reference %.6f", got, exact, g.NLL)
	if !(math.Abs(got-exact) <= 0.02) {
		t.Errorf("mean negative log-likelihood %g, in float32 %g", got, exact)
	}
	if !(math.Abs(exact-g.NLL) <= 0.3) {
		t.Errorf("mean negative log-likelihood %g, before weights were quantised once more %g", exact, g.NLL)
	}
}
