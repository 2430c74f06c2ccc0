package cpuexec

import (
	"github.com/cbactor/cbactor/cpuexec/kernels"
	"github.com/cbactor/cbactor/weights"
)

// matrix is a weight matrix as panels of 32 columns, an output each. A panel is
// [k][32], and the panels of a matrix follow one another.
type matrix struct {
	panels []float32
	k      int
	bias   []float32 // one per column; nil: none
}

// panel is panel p.
func (m *matrix) panel(p int) []float32 {
	size := m.k * kernels.Panel
	return m.panels[p*size : (p+1)*size]
}

// count is the number of panels.
func (m *matrix) count() int { return len(m.panels) / (m.k * kernels.Panel) }

// columns says which row of which stored tensor is column c of a matrix; ok is
// false for padding.
type columns func(c int) (t weights.Tensor, row int, ok bool)

// stacked puts tensors one behind the other.
func stacked(parts ...weights.Tensor) columns {
	return func(c int) (weights.Tensor, int, bool) {
		for _, t := range parts {
			if c < t.Shape[0] {
				return t, c, true
			}
			c -= t.Shape[0]
		}
		return weights.Tensor{}, 0, false
	}
}

// alternating takes a panel of a, then one of b, and so on.
func alternating(a, b weights.Tensor) columns {
	return func(c int) (weights.Tensor, int, bool) {
		t := a
		if c/kernels.Panel%2 == 1 {
			t = b
		}
		row := c/(2*kernels.Panel)*kernels.Panel + c%kernels.Panel
		return t, row, row < t.Shape[0]
	}
}

// tileWidth is how many numbers of each row are widened before they are turned: with
// the panel's they stay in the first cache, and an assembly call stays short. Blocks of
// quantised types begin at its multiples. A worker's tile is as large as theirs.
const (
	tileWidth = 2 * rowBlock
	tileLen   = kernels.Panel * tileWidth
)

// packPanel fills the panel whose first column is first with stored rows, widened, and
// zeros. tile is scratch.
func packPanel(set *kernels.Set, panel []float32, first int, from columns, tile []float32) {
	k := len(panel) / kernels.Panel
	for at := 0; at < k; at += tileWidth {
		n := min(tileWidth, k-at)
		for c := range kernels.Panel {
			part := tile[c*tileWidth:][:n]
			if t, row, ok := from(first + c); ok {
				t.Part(part, row, at)
			} else {
				clear(part)
			}
		}
		set.Transpose(tile, panel[at*kernels.Panel:], n, tileWidth)
	}
}

// share is the part of n things that falls to thread id of so many.
func share(n, id, threads int) (lo, hi int) {
	return n * id / threads, n * (id + 1) / threads
}
