package cpuexec

import (
	"sync"

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

// pack fills the panels with the stored rows, widened, on so many goroutines.
func (m *matrix) pack(from columns, threads int) {
	var wait sync.WaitGroup
	for id := range threads {
		lo, hi := share(m.count(), id, threads)
		wait.Go(func() {
			row := make([]float32, m.k)
			for p := lo; p < hi; p++ {
				packPanel(m.panel(p), p*kernels.Panel, from, row)
			}
		})
	}
	wait.Wait()
}

// packPanel fills the panel whose first column is first; row is scratch.
func packPanel(panel []float32, first int, from columns, row []float32) {
	for c := range kernels.Panel {
		t, r, ok := from(first + c)
		if !ok {
			continue // new memory is zero
		}
		t.Row(row, r)
		for k, v := range row {
			panel[k*kernels.Panel+c] = v
		}
	}
}

// share is the part of n things that falls to thread id of so many.
func share(n, id, threads int) (lo, hi int) {
	return n * id / threads, n * (id + 1) / threads
}
