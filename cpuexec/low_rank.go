package cpuexec

import (
	"github.com/cbactor/cbactor/cpuexec/kernels"
)

// run is a stretch of tokens with one adapter.
type run struct {
	from, to int // of the step's tokens
	adapter  *adapter
}

// place is the number of a slot's adapter, -1 for none.
func (q *slot) place() int {
	if q.adapter == nil {
		return -1
	}
	return q.adapter.number
}

// extend adds the token that was laid out last to the runs.
func (s *step) extend(a *adapter) {
	at := len(s.tokens) - 1
	if a == nil {
		return
	}
	if n := len(s.runs); n > 0 && s.runs[n-1].adapter == a && s.runs[n-1].to == at {
		s.runs[n-1].to++
		return
	}
	s.runs = append(s.runs, run{from: at, to: at + 1, adapter: a})
}

// lower computes the ranks of all adapted tokens for one matrix from its input, this
// thread's share, and waits for the others. Without adapters it does nothing.
func (s *step) lower(id, layer, joint int, in *input) {
	panels := 0
	for i := range s.runs {
		u := &s.runs[i]
		m := &u.adapter.layers[layer][joint]
		if m.none() {
			continue
		}
		for r := u.from; r < u.to; r += rowBlock {
			rows := min(rowBlock, u.to-r)
			for p := range m.down.count() {
				if panels%s.threads == id {
					s.kernels.Gemm(m.down.floats(p), in.x[r*in.width:], s.low[r*s.lowWidth+p*kernels.Panel:], m.down.k, rows, in.width, s.lowWidth)
				}
				panels++
			}
		}
	}
	if panels > 0 {
		s.sync(id, operationOf[joint])
	}
}

// raise adds what adapters add to the columns of panel p, for the rows of out from the
// step's token r on.
func (s *step) raise(id, layer, joint, p, r, rows int, out []float32, stride int) {
	for i := range s.runs {
		u := &s.runs[i]
		from, to := max(u.from, r), min(u.to, r+rows)
		m := &u.adapter.layers[layer][joint]
		if from >= to || m.none() || m.up[p].k == 0 {
			continue
		}
		up, tile := &m.up[p], s.workers[id].low
		s.kernels.Gemm(up.panel, s.low[from*s.lowWidth+up.from:], tile, up.k, to-from, s.lowWidth, kernels.Panel)
		s.kernels.AddTile(out[(from-r)*stride:], tile, to-from, stride, kernels.Panel)
	}
}
