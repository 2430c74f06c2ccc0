package cpuexec

import (
	"fmt"

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
		n += w.layers[l].products()
	}
	return n
}

// layer is what one layer computes with.
type layer struct {
	norms        [4][]float32     // before attention, of its answer, before the MLP, of its answer; nil: none
	qNorm, kNorm []float32        // nil: none
	sinks        []float32        // of query heads; nil: none
	matrices     [joints][]matrix // one, or several that have panels behind one another
	router       matrix
	experts      []expert // nil: it has all of matrices
	perToken     int      // of experts
}

// expert is the matrices of one.
type expert struct{ gateUp, down matrix }

// products is how many products a token takes.
func (l *layer) products() (n int) {
	for j := range l.matrices {
		for i := range l.matrices[j] {
			n += l.matrices[j][i].products()
		}
	}
	if l.experts != nil {
		n += l.router.products() + l.perToken*(l.experts[0].gateUp.products()+l.experts[0].down.products())
	}
	return n
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
	w.norm = p.norm(m, "model.norm.weight", p.dims.hiddenWidth)
	head, first := p.tensor(headName(m)), p.dims.headFirst
	w.head = p.matrix(p.formats.head, func(c int) (weights.Tensor, int, bool) { return head, first + c, c < p.dims.headRows }, p.dims.hidden, p.dims.headWidth, p.dims.headRows)
	for l := range p.dims.layers {
		w.layers = append(w.layers, p.layer(l, m))
	}
	return w
}

// checkSet makes sure that there is a set, which has the model's tensors.
func checkSet(m *model.Config, set *weights.Set) error {
	if set == nil {
		return fmt.Errorf("%w: Weights is nil", ErrConfig)
	}
	if err := set.Fits(m); err != nil {
		return fmt.Errorf("%w: %w", ErrConfig, err)
	}
	return nil
}

func (p *packer) layer(number int, m *model.Config) layer {
	d, l := p.dims, layer{}
	for i, name := range m.LayerNorms(number) {
		if name != "" {
			l.norms[i] = p.norm(m, name, d.hiddenWidth)
		}
	}
	attn := model.LayerPrefix(number) + "self_attn."
	if m.QKNorm != model.QKNormNone {
		q, k := qkNormWidths(m, d)
		l.qNorm, l.kNorm = p.norm(m, attn+"q_norm.weight", q), p.norm(m, attn+"k_norm.weight", k)
	}
	if m.Sinks {
		l.sinks = p.vector(attn+"sinks", firstHead(m), d.heads, d.heads)
	}
	all := d.joints()
	for i := range ownJoints(m, number) {
		j := &all[i]
		pieces, from := p.formats.layers[number][i], p.columns(j, false, func(module string) model.Rows { return m.Weight(number, module) })
		for _, s := range pieces {
			l.matrices[i] = append(l.matrices[i], p.matrix(s.format, from.behind(s.first), j.in, s.width, outputs(j.modules[s.from:s.end])))
		}
		if hasBias(m, i) {
			bias := p.bias(p.columns(j, true, func(module string) model.Rows { return m.Bias(number, module) }), j.width)
			for n, s := range pieces {
				l.matrices[i][n].bias = bias[s.first:][:s.width]
			}
		}
	}
	if m.HasExperts(number) {
		p.mixture(&l, number, m)
	}
	return l
}

// firstHead is the first query head that is computed here.
func firstHead(m *model.Config) int {
	if part := m.Part(); part != nil {
		return part.Query
	}
	return 0
}

// qkNormWidths are those of the norms of queries and keys, of all ranks.
func qkNormWidths(m *model.Config, d *dims) (q, k int) {
	if m.QKNorm == model.QKNormHead {
		return padded(d.headDim), padded(d.headDim)
	}
	if part := m.Part(); part != nil {
		m = part.Whole
	}
	return padded(m.Heads * m.HeadDim), padded(m.KVHeads * m.HeadDim)
}

// tileFloats is the size of a worker's tile, in which norms lay queries or keys, too.
func tileFloats(m *model.Config, d *dims) int {
	if m.QKNorm == model.QKNormNone {
		return tileLen
	}
	q, k := qkNormWidths(m, d)
	return max(tileLen, q, k)
}

// columns are those of a joint, of weights or biases, whose modules lie where where says.
func (p *packer) columns(j *joint, bias bool, where func(module string) model.Rows) columns {
	type source struct {
		weights.Tensor
		first, step int
	}
	from := make([]source, len(j.modules))
	for i := range from {
		r := where(j.modules[i].name)
		t := p.tensor(r.Tensor)
		t.Turned = t.Transposed()
		last := len(t.Shape) - 1
		rows := t.Shape[last] // of a matrix
		if !bias && !t.Turned {
			rows = t.Shape[last-1]
		}
		if from[i] = (source{t, r.Expert*rows + r.First, r.Step}); !bias {
			from[i].From = r.From
		}
	}
	return func(c int) (weights.Tensor, int, bool) {
		m, row, ok := j.column(c)
		f := &from[m]
		return f.Tensor, f.first + row*f.step, ok
	}
}

// tensor is a tensor that checkSet has seen.
func (p *packer) tensor(name string) weights.Tensor {
	t, _ := p.set.Tensor(name)
	return t
}

// matrix lays out a matrix of k inputs, so many columns, which are whole panels, and outputs.
func (p *packer) matrix(f kernels.Format, from columns, k, width, outputs int) matrix {
	m := newMatrix(p.area, f, k, width)
	m.outputs = outputs
	m.tiles = p.tiles.of(m.shape())
	p.panels.add(m, from)
	return m
}

// vector is n numbers of a stored vector, from one on, widened, with zeros behind them.
func (p *packer) vector(name string, first, n, width int) []float32 {
	t, out := p.tensor(name), cut[float32](p.area, width)
	t.Part(out[:n], 0, first)
	return out
}

// norm is the weights of a norm, with what is added to all of them.
func (p *packer) norm(m *model.Config, name string, width int) []float32 {
	n := p.tensor(name).Shape[0]
	out := p.vector(name, 0, n, width)
	if m.NormOffset != 0 {
		for i := range out[:n] {
			out[i] += float32(m.NormOffset)
		}
	}
	return out
}

// bias puts stored numbers, which count over all dimensions, into the order of a matrix's
// columns.
func (p *packer) bias(from columns, width int) []float32 {
	type place struct {
		tensor string
		row    int
	}
	out, rows := cut[float32](p.area, width), map[place][]float32{}
	for c := range out {
		t, i, ok := from(c)
		if !ok {
			continue
		}
		n := t.Shape[len(t.Shape)-1]
		at := place{t.Name, i / n}
		if rows[at] == nil {
			rows[at] = make([]float32, n)
			t.Row(rows[at], at.row)
		}
		out[c] = rows[at][i%n]
	}
	return out
}
