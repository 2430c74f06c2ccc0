package cpuexec

import (
	"iter"

	"github.com/cbactor/cbactor/cpuexec/kernels"
)

// part is what is computed at once: rows, from number r on, of panels from number p on. One
// of rows and panels is 1, and so what comes out can be seen as rows of a panel's width.
type part struct{ r, rows, p, panels int }

// tiles is how many rows of a panel's width come out.
func (t *part) tiles() int { return t.rows * t.panels }

// stride is that of these, where rows are width apart.
func (t *part) stride(width int) int {
	if t.rows == 1 {
		return kernels.Panel
	}
	return width
}

// parts cuts so many rows and panels lo to hi into parts, where so many panels lie at a time
// in a worker's tile for each that is counted.
func (m *matrix) parts(rows, lo, hi, times int) iter.Seq[part] {
	block, call := m.tiles.block[classOf(rows)], max(1, m.tiles.call/times)
	return func(yield func(part) bool) {
		for r := 0; r < rows; r += block {
			t := part{r: r, rows: min(block, rows-r)}
			for t.p = lo; t.p < hi; t.p += t.panels {
				t.panels = 1
				if t.rows == 1 {
					t.panels = min(call, hi-t.p)
				}
				if !yield(t) {
					return
				}
			}
		}
	}
}

// passes is how many times so many rows pass m.
func (m *matrix) passes(rows int) int64 {
	return int64(pages(rows, m.tiles.block[classOf(rows)]))
}

// multiply writes in times m, without what is added to it, to rows of out.
func (s *step) multiply(m *matrix, in *input, t part, out []float32, stride int) {
	panels := m.panel(t.p)[:t.panels*m.size]
	if !m.format.Packs() {
		s.multiplyFloats(m, panels, in.x[t.r*in.width:], in.width, t.rows, out, stride)
		return
	}
	x, blocks := in.packed[s.packs.bytes(t.r, in.width):], kernels.Blocks(m.k)
	out = out[:(t.tiles()-1)*t.stride(stride)+kernels.Panel] // which says how many panels a single row passes
	s.kernels.Integers[m.format](panels, x, out, blocks, t.rows, stride)
}

// multiplyFloats is multiply for rows that are not packed: panel by panel.
func (s *step) multiplyFloats(m *matrix, panels []byte, x []float32, width, rows int, out []float32, stride int) {
	for ; len(panels) > 0; panels = panels[m.size:] {
		switch panel := panels[:m.size]; m.format {
		case kernels.F32:
			s.kernels.Gemm(view[float32](panel), x, out, m.k, rows, width, stride)
		case kernels.BF16:
			s.kernels.GemmBF16(view[uint16](panel), x, out, m.k, rows, width, stride)
		case kernels.MXFP4:
			s.kernels.GemmMXFP4(panel, x, out, m.k, rows, width, stride)
		}
		out = out[kernels.Panel:]
	}
}

// linear is a matrix of a layer at work, on thread id.
type linear struct {
	*matrix
	in               *input
	id, layer, joint int
	first            int // panel of the joint
}

// linear is a joint that is one matrix at work. It begins with what adapters need of all of in.
func (s *step) linear(id, layer, joint int, in *input) linear {
	s.lower(id, layer, joint, in)
	return linear{&s.weights.layers[layer].matrices[joint][0], in, id, layer, joint, 0}
}

// apply writes a part of the product, biases and adapters included, to rows of out.
func (s *step) apply(l *linear, t part, out []float32, stride int) {
	s.multiply(l.matrix, l.in, t, out, stride)
	if l.bias != nil {
		bias, next := l.bias[t.p*kernels.Panel:], 0 // each row has the same
		if t.rows == 1 {
			next = kernels.Panel
		}
		s.kernels.AddTile(out, bias, t.tiles(), t.stride(stride), next)
	}
	if l.joint == noJoint { // which no adapter adds to
		return
	}
	for i := range t.panels {
		s.raise(l.id, l.layer, l.joint, l.first+t.p+i, t.r, t.rows, out[i*kernels.Panel:], stride)
	}
}
