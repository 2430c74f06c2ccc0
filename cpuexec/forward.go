package cpuexec

import (
	"math"

	"github.com/cbactor/cbactor/cpuexec/kernels"
)

// rowBlock is how many rows pass a panel before the next panel's turn: enough to
// pay for reading it, few enough that the rows stay in the second level cache.
const rowBlock = 64

// work is a thread's part of a step. Between two syncs every thread writes only
// what no other one touches.
func (s *step) work(id int) {
	s.embed(id)
	s.pool.Sync()
	for l := range s.weights.layers {
		w := &s.weights.layers[l]
		s.norms(id, w.attnNorm)
		s.pool.Sync()
		s.project(id, l, &w.qkv)
		s.pool.Sync()
		s.store(id, l)
		s.pool.Sync()
		s.attend(id, l)
		s.pool.Sync()
		s.addProduct(id, l, jointOut, &w.out, s.attn, s.attnWidth)
		s.pool.Sync()
		s.norms(id, w.mlpNorm)
		s.pool.Sync()
		s.gate(id, l, &w.gateUp)
		s.pool.Sync()
		s.addProduct(id, l, jointDown, &w.down, s.act, s.interWidth)
		s.pool.Sync()
	}
	s.head(id)
}

// embed looks up the rows of this thread's tokens and the angles of their
// positions. The product of position and frequency is rounded to float32, as the
// reference implementation does: far out that is part of its answers.
func (s *step) embed(id int) {
	lo, hi := share(len(s.tokens), id, s.threads)
	half := s.headDim / 2
	for t := lo; t < hi; t++ {
		row := s.x[t*s.hiddenWidth:][:s.hiddenWidth]
		s.weights.embedding.Row(row[:s.hidden], int(s.tokens[t].id))
		for i, f := range s.invFreq {
			angle := float32(s.tokens[t].pos) * float32(f)
			sin, cos := math.Sincos(float64(angle))
			s.cos[t*half+i] = float32(cos * s.ropeScale)
			s.sin[t*half+i] = float32(sin * s.ropeScale)
		}
	}
}

// norms writes this thread's rows of x, normalised, to norm.
func (s *step) norms(id int, w []float32) {
	lo, hi := share(len(s.tokens), id, s.threads)
	for t := lo; t < hi; t++ {
		at, end := t*s.hiddenWidth, (t+1)*s.hiddenWidth
		s.kernels.Norm(s.x[at:end], w, s.norm[at:end], s.hidden, s.config.Model.NormEps)
	}
}

// project writes this thread's columns of q, k and v.
func (s *step) project(id, layer int, m *matrix) {
	s.lower(id, layer, jointQKV, s.norm, s.hiddenWidth)
	lo, hi := share(m.count(), id, s.threads)
	for r := 0; r < len(s.tokens); r += rowBlock {
		rows := min(rowBlock, len(s.tokens)-r)
		for p := lo; p < hi; p++ {
			out := s.qkv[r*s.qkvWidth+p*kernels.Panel:]
			s.kernels.Gemm(m.panel(p), s.norm[r*s.hiddenWidth:], out, m.k, rows, s.hiddenWidth, s.qkvWidth)
			if m.bias != nil {
				s.kernels.AddTile(out, m.bias[p*kernels.Panel:], rows, s.qkvWidth, 0)
			}
			s.raise(id, layer, jointQKV, p, r, rows, out, s.qkvWidth)
		}
	}
}

// gate writes this thread's columns of silu(gate)*up.
func (s *step) gate(id, layer int, m *matrix) {
	s.lower(id, layer, jointGateUp, s.norm, s.hiddenWidth)
	lo, hi := share(m.count()/2, id, s.threads)
	tile := s.workers[id].tile
	const width = 2 * kernels.Panel
	for r := 0; r < len(s.tokens); r += rowBlock {
		rows := min(rowBlock, len(s.tokens)-r)
		in := s.norm[r*s.hiddenWidth:]
		for p := lo; p < hi; p++ {
			for i := range 2 {
				out := tile[i*kernels.Panel:]
				s.kernels.Gemm(m.panel(2*p+i), in, out, m.k, rows, s.hiddenWidth, width)
				if m.bias != nil {
					s.kernels.AddTile(out, m.bias[(2*p+i)*kernels.Panel:], rows, width, 0)
				}
				s.raise(id, layer, jointGateUp, 2*p+i, r, rows, out, width)
			}
			s.kernels.SiluTile(tile, s.act[r*s.interWidth+p*kernels.Panel:], rows, s.interWidth)
		}
	}
}

// addProduct adds this thread's columns of in times m to x.
func (s *step) addProduct(id, layer, joint int, m *matrix, in []float32, width int) {
	s.lower(id, layer, joint, in, width)
	lo, hi := share(m.count(), id, s.threads)
	tile := s.workers[id].tile
	for r := 0; r < len(s.tokens); r += rowBlock {
		rows := min(rowBlock, len(s.tokens)-r)
		for p := lo; p < hi; p++ {
			s.kernels.Gemm(m.panel(p), in[r*width:], tile, m.k, rows, width, kernels.Panel)
			if m.bias != nil {
				s.kernels.AddTile(tile, m.bias[p*kernels.Panel:], rows, kernels.Panel, 0)
			}
			s.raise(id, layer, joint, p, r, rows, tile, kernels.Panel)
			s.kernels.AddTile(s.x[r*s.hiddenWidth+p*kernels.Panel:], tile, rows, s.hiddenWidth, kernels.Panel)
		}
	}
}
