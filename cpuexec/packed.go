package cpuexec

import (
	"fmt"
	"slices"

	"github.com/cbactor/cbactor/model"
	"github.com/cbactor/cbactor/weights"
)

// packed is a weight set made ready to compute with. It belongs to its set.
type packed struct {
	area      *area
	embedding weights.Tensor // as stored
	layers    []layer
	norm      []float32
	head      matrix
}

// count is the number of weights, padding included.
func (w *packed) count() int { return len(w.area.mem) / 4 }

// layer is what one layer computes with.
type layer struct {
	attnNorm, mlpNorm []float32
	qkv, out          matrix
	gateUp            matrix // panels of gate and up in turn
	down              matrix
}

// packer lays out a packed of a set.
type packer struct {
	set    *weights.Set
	area   *area
	dims   *dims
	panels *packing // what then is to be done
}

// layOut takes the memory of a place, unless it has it, and lays a set out in it that
// checkSet has seen. It is ready when all panels are packed. What is there of an earlier
// set is written over: paddings lie in the same places, and stay zero.
func (e *Executor) layOut(a *area, set *weights.Set) (*packed, *packing, error) {
	if err := a.take(); err != nil {
		return nil, nil, err
	}
	a.used = 0
	d := dimsOf(e.config.Model)
	p := &packer{set: set, area: a, dims: &d, panels: &packing{kernels: e.kernels}}
	return p.lay(e.config.Model), p.panels, nil
}

// packNow packs a set that nobody computes with yet, on all threads.
func (e *Executor) packNow(a *area, set *weights.Set) (*packed, error) {
	w, panels, err := e.layOut(a, set)
	if err != nil {
		return nil, err
	}
	panels.all(e.config.Threads)
	return w, nil
}

// lay cuts the memory, and widens vectors.
func (p *packer) lay(m *model.Config) *packed {
	w := &packed{area: p.area, embedding: p.tensor("model.embed_tokens.weight")}
	w.norm = p.vector("model.norm.weight", p.dims.hiddenWidth)
	head := "lm_head.weight"
	if m.TiedHead {
		head = "model.embed_tokens.weight"
	}
	w.head = p.matrix(stacked(p.tensor(head)), p.dims.hidden, p.dims.vocabWidth)
	for l := range p.dims.layers {
		w.layers = append(w.layers, p.layer(model.LayerPrefix(l), m))
	}
	return w
}

// checkSet makes sure that the set has the model's tensors in their shapes.
func checkSet(m *model.Config, set *weights.Set) error {
	if set == nil {
		return fmt.Errorf("%w: Weights is nil", ErrConfig)
	}
	for _, want := range m.Tensors() {
		t, ok := set.Tensor(want.Name)
		if !ok {
			return fmt.Errorf("%w: weight set has no %s", ErrConfig, want.Name)
		}
		if !slices.Equal(t.Shape, want.Shape) || t.DType == model.Invalid || len(t.Data) != t.Bytes() {
			return fmt.Errorf("%w: %s is %s %v of %d bytes, the model has %v", ErrConfig, want.Name, t.DType, t.Shape, len(t.Data), want.Shape)
		}
	}
	return nil
}

func (p *packer) layer(prefix string, m *model.Config) layer {
	d := p.dims
	name := func(s string) weights.Tensor { return p.tensor(prefix + s) }
	q, k, v := "self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"
	l := layer{
		attnNorm: p.vector(prefix+"input_layernorm.weight", d.hiddenWidth),
		mlpNorm:  p.vector(prefix+"post_attention_layernorm.weight", d.hiddenWidth),
		qkv:      p.matrix(stacked(name(q+".weight"), name(k+".weight"), name(v+".weight")), d.hidden, d.qkvWidth),
		out:      p.matrix(stacked(name("self_attn.o_proj.weight")), d.attnDim(), d.hiddenWidth),
		gateUp:   p.matrix(alternating(name("mlp.gate_proj.weight"), name("mlp.up_proj.weight")), d.hidden, 2*d.interWidth),
		down:     p.matrix(stacked(name("mlp.down_proj.weight")), d.inter, d.hiddenWidth),
	}
	if m.AttnBias {
		l.qkv.bias = p.bias(stacked(name(q+".bias"), name(k+".bias"), name(v+".bias")), d.qkvWidth)
		l.out.bias = p.bias(stacked(name("self_attn.o_proj.bias")), d.hiddenWidth)
	}
	if m.MLPBias {
		l.gateUp.bias = p.bias(alternating(name("mlp.gate_proj.bias"), name("mlp.up_proj.bias")), 2*d.interWidth)
		l.down.bias = p.bias(stacked(name("mlp.down_proj.bias")), d.hiddenWidth)
	}
	return l
}

// tensor is a tensor that checkSet has seen.
func (p *packer) tensor(name string) weights.Tensor {
	t, _ := p.set.Tensor(name)
	return t
}

func (p *packer) matrix(from columns, k, width int) matrix {
	m := matrix{panels: cut[float32](p.area, k*width), k: k}
	p.panels.add(m, from)
	return m
}

// vector is a stored vector, widened, with zeros behind it.
func (p *packer) vector(name string, width int) []float32 {
	t, out := p.tensor(name), cut[float32](p.area, width)
	t.Row(out[:t.Shape[0]], 0)
	return out
}

// bias puts stored vectors into the order of a matrix's columns.
func (p *packer) bias(from columns, width int) []float32 {
	out := cut[float32](p.area, width)
	values := map[string][]float32{}
	for c := range out {
		t, i, ok := from(c)
		if !ok {
			continue
		}
		if values[t.Name] == nil {
			values[t.Name] = make([]float32, t.Shape[0])
			t.Row(values[t.Name], 0)
		}
		out[c] = values[t.Name][i]
	}
	return out
}
