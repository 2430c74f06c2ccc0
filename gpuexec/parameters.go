package gpuexec

import (
	"github.com/cbactor/cbactor/cuda"
	"github.com/cbactor/cbactor/cuda/kernels"
	"github.com/cbactor/cbactor/model"
)

// matrix is a product's weights on the device: n rows of k numbers, k padded.
type matrix struct {
	kernels.Weights
	bias cuda.Pointer // f32 [n]; 0: none
	n, k int
}

// layer is the parameters of a layer. Vectors are f32; 0 stands for one that the model has not.
type layer struct {
	norms               [4]cuda.Pointer // before attention, of what it answers, before the MLP, of what that answers
	qNorm, kNorm, sinks cuda.Pointer
	qkv, out            matrix
	gateUp, down        matrix // gate and up take turns; of a layer with experts each is [expert][n][k]
	router, routerBias  cuda.Pointer
}

// parameters is a weight set as steps compute with it, in one piece of memory.
type parameters struct {
	embedding kernels.Weights // [vocab][padded hidden]
	head      matrix
	norm      cuda.Pointer
	layers    []layer
}

// laying cuts the memory of a model's parameters, and notes what each part is filled with.
type laying struct {
	cutter
	m       *model.Config
	joints  [joints]joint
	formats formats
	fills   []fill
}

// layParameters lays out the parameters of the model of c from base on, and answers how many bytes they
// take.
func layParameters(c *Config, base cuda.Pointer) (*parameters, []fill, int64) {
	m := c.Model
	l := &laying{cutter: cutter{base: base}, m: m, joints: jointsOf(m), formats: formatsOf(c)}
	p := &parameters{norm: l.norm("model.norm.weight", m.Hidden)}
	table := source{model.Rows{Tensor: embeddingName, Step: 1}, m.Vocab}
	if m.TiedHead {
		p.head = l.matrix(m.Hidden, l.formats.of(table), table)
		p.embedding = p.head.Weights
	} else {
		p.embedding = l.matrix(m.Hidden, l.formats.ofTable(), table).Weights
		head := source{model.Rows{Tensor: "lm_head.weight", Step: 1}, m.Vocab}
		p.head = l.matrix(m.Hidden, l.formats.of(head), head)
	}
	for n := range m.Layers {
		p.layers = append(p.layers, l.layer(n))
	}
	return p, l.fills, l.used
}

func (l *laying) layer(n int) (p layer) {
	m, prefix := l.m, model.LayerPrefix(n)+"self_attn."
	for i, name := range m.LayerNorms(n) {
		if name != "" {
			p.norms[i] = l.norm(name, m.Hidden)
		}
	}
	q, kv := m.Heads*m.HeadDim, m.KVHeads*m.HeadDim
	switch m.QKNorm {
	case model.QKNormHead:
		p.qNorm, p.kNorm = l.norm(prefix+"q_norm.weight", m.HeadDim), l.norm(prefix+"k_norm.weight", m.HeadDim)
	case model.QKNormWhole:
		p.qNorm, p.kNorm = l.norm(prefix+"q_norm.weight", q), l.norm(prefix+"k_norm.weight", kv)
	}
	if m.Sinks {
		p.sinks = l.vector(0, source{model.Rows{Tensor: prefix + "sinks", Step: 1}, m.Heads})
	}
	p.qkv = l.linear(n, jointQKV, m.AttnBias)
	p.out = l.linear(n, jointOut, m.AttnBias && !m.OutNoBias)
	if m.HasExperts(n) {
		l.experts(n, &p)
		return p
	}
	p.gateUp = l.linear(n, jointGateUp, m.MLPBias)
	p.down = l.linear(n, jointDown, m.MLPBias)
	return p
}

// linear is the matrix of a joint of a layer. Two modules are gate and up, whose rows take turns, so that
// a thread has both of what is multiplied.
func (l *laying) linear(layer, number int, bias bool) matrix {
	var weights, biases []source
	for _, one := range l.joints[number].modules {
		weights = append(weights, source{l.m.Weight(layer, one.name), one.out})
		biases = append(biases, source{l.m.Bias(layer, one.name), one.out})
	}
	p := l.matrix(l.joints[number].in, l.formats.of(weights...), weights...)
	if bias {
		p.bias = l.vector(0, biases...)
	}
	return p
}

// matrix is one of rows of in numbers, in a format.
func (l *laying) matrix(in int, f kernels.Format, from ...source) matrix {
	n, k := rowsOf(from), padded(in)
	p := matrix{Weights: kernels.Weights{At: l.bytes(f.Bytes(n, k)), Format: f}, n: n, k: k}
	l.fills = append(l.fills, fill{at: p.At, in: in, width: k, format: f, from: from})
	return p
}

// vector is numbers, to each of which something is added.
func (l *laying) vector(add float32, from ...source) cuda.Pointer {
	at := l.f32(rowsOf(from))
	l.fills = append(l.fills, fill{at: at, float: true, from: from, add: add})
	return at
}

// norm is the weights of a norm.
func (l *laying) norm(name string, n int) cuda.Pointer {
	return l.vector(float32(l.m.NormOffset), source{model.Rows{Tensor: name, Step: 1}, n})
}
