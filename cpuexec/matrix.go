package cpuexec

import "github.com/cbactor/cbactor/cpuexec/kernels"

// matrix is a weight matrix as panels of 32 columns, an output each, that follow one
// another.
type matrix struct {
	format  kernels.Format
	panels  []byte
	size    int // of a panel
	k       int
	outputs int       // columns without padding; of an adapter's not counted
	bias    []float32 // one per column; nil: none
	tiles   *tiles    // nil: an adapter's
}

// newMatrix cuts a matrix of k inputs and so many outputs, which are whole panels.
func newMatrix(a *area, f kernels.Format, k, width int) matrix {
	size := f.PanelBytes(k)
	return matrix{format: f, panels: cut[byte](a, width/kernels.Panel*size), size: size, k: k}
}

// matrixBytes is what it takes.
func matrixBytes(f kernels.Format, k, width int) int64 {
	return lineBytes(int64(width/kernels.Panel) * int64(f.PanelBytes(k)))
}

// panel is panel p and all behind it.
func (m *matrix) panel(p int) []byte { return m.panels[p*m.size:] }

// floats is panel p of a matrix in F32.
func (m *matrix) floats(p int) []float32 { return view[float32](m.panel(p)[:m.size]) }

// count is the number of panels.
func (m *matrix) count() int { return len(m.panels) / max(m.size, 1) }

// integer tells that it is multiplied as integers.
func (m *matrix) integer() bool { return m.format.Packs() }

// products is how many products a token takes.
func (m *matrix) products() int { return m.count() * kernels.Panel * m.k }

// share is the part of n things that falls to thread id of so many.
func share(n, id, threads int) (lo, hi int) {
	return n * id / threads, n * (id + 1) / threads
}
