package cpuexec

import (
	"fmt"
	"slices"

	"github.com/cbactor/cbactor/cpuexec/kernels"
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

// products is how many products a token takes, padding included.
func (w *packed) products() int {
	n := w.head.products()
	for l := range w.layers {
		for j := range w.layers[l].matrices {
			n += w.layers[l].matrices[j].products()
		}
	}
	return n
}

// layer is what one layer computes with.
type layer struct {
	attnNorm, mlpNorm []float32
	sinks             []float32 // per query head; nil: none
	matrices          [joints]matrix
}

// packer lays out a packed of a set.
type packer struct {
	set     *weights.Set
	area    *area
	dims    *dims
	formats *formats
	tiles   tileTable
	panels  *packing // what then is to be done
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
	p := &packer{set: set, area: a, dims: &d, formats: &e.formats, tiles: e.tiles, panels: &packing{kernels: e.kernels}}
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
	head := p.tensor(headName(m))
	w.head = p.matrix(p.formats.head, func(c int) (weights.Tensor, int, bool) { return head, c, c < p.dims.vocab }, p.dims.hidden, p.dims.vocabWidth)
	for l := range p.dims.layers {
		w.layers = append(w.layers, p.layer(l, m))
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

func (p *packer) layer(number int, m *model.Config) layer {
	prefix, d := model.LayerPrefix(number), p.dims
	l := layer{
		attnNorm: p.vector(prefix+"input_layernorm.weight", d.hiddenWidth),
		mlpNorm:  p.vector(prefix+"post_attention_layernorm.weight", d.hiddenWidth),
	}
	if m.Sinks {
		l.sinks = p.vector(prefix+"self_attn.sinks", d.heads)
	}
	all := d.joints()
	for i := range all {
		j := &all[i]
		l.matrices[i] = p.matrix(p.formats.layers[number][i], p.columns(j, prefix, ".weight"), j.in, j.width)
		if hasBias(m, i) {
			l.matrices[i].bias = p.bias(p.columns(j, prefix, ".bias"), j.width)
		}
	}
	return l
}

// columns are those of a joint: of weights or biases.
func (p *packer) columns(j *joint, prefix, kind string) columns {
	tensors := make([]weights.Tensor, len(j.modules))
	for i := range tensors {
		tensors[i] = p.tensor(prefix + j.modules[i].name + kind)
	}
	return func(c int) (weights.Tensor, int, bool) {
		m, row, ok := j.column(c)
		return tensors[m], row, ok
	}
}

// tensor is a tensor that checkSet has seen.
func (p *packer) tensor(name string) weights.Tensor {
	t, _ := p.set.Tensor(name)
	return t
}

func (p *packer) matrix(f kernels.Format, from columns, k, width int) matrix {
	m := newMatrix(p.area, f, k, width)
	m.tiles = p.tiles.of(m.shape())
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
