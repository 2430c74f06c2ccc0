package cpuexec

import (
	"github.com/cbactor/cbactor/cpuexec/kernels"
	"github.com/cbactor/cbactor/model"
)

// add adds a part of what half a layer answers, rows of a panel's width, to x; or puts it
// where sum or settle finds it.
func (s *step) add(t part, tile []float32) {
	at, stride := t.r*s.hiddenWidth+t.p*kernels.Panel, t.stride(s.hiddenWidth)
	if to := s.answers(); to != nil {
		for i := range t.tiles() {
			copy(to[at+i*stride:][:kernels.Panel], tile[i*kernels.Panel:])
		}
		return
	}
	if s.residualScale != 0 {
		scale(tile[:t.tiles()*kernels.Panel], s.residualScale)
	}
	s.kernels.AddTile(s.x[at:], tile, t.tiles(), stride, kernels.Panel)
}

// answers is where what half a layer answers is put; nil: it is added to x.
func (s *step) answers() []float32 {
	if s.shared.room != nil {
		return s.shared.room
	}
	return s.out
}

// settle normalises what half a layer answered for this thread's tokens, adds it to x and
// waits for the others. Where there is no such norm it does nothing.
func (s *step) settle(id int, w []float32) {
	if w == nil {
		return
	}
	lo, hi := share(len(s.tokens), id, s.threads)
	for t := lo; t < hi; t++ {
		out := s.out[t*s.hiddenWidth:][:s.hiddenWidth]
		s.kernels.Norm(out, w, out, s.hidden, s.config.Model.NormEps)
		if s.residualScale != 0 {
			scale(out, s.residualScale)
		}
		s.kernels.AddTile(s.x[t*s.hiddenWidth:], out, s.hiddenWidth/kernels.Panel, kernels.Panel, kernels.Panel)
	}
	s.sync(id, OpNorm)
}

// normHeads normalises the queries and keys of this thread's tokens, all heads of a token
// together or each.
func (s *step) normHeads(id int, w *layer) {
	if gathers(s.config.Model) {
		s.normWhole(id, w)
		return
	}
	lo, hi := share(len(s.tokens), id, s.threads)
	queries, dim, keyDim := s.attnDim(), s.headDim, s.headDim
	if s.config.Model.QKNorm == model.QKNormWhole {
		dim, keyDim = queries, s.kvHeads*s.headDim
	}
	for t := lo; t < hi; t++ {
		row := s.qkv[t*s.qkvWidth:]
		for at := 0; at < queries; at += dim {
			s.normHead(id, row[at:][:dim], w.qNorm)
		}
		for at := queries; at < queries+s.kvHeads*s.headDim; at += keyDim {
			s.normHead(id, row[at:][:keyDim], w.kNorm)
		}
	}
}

// normHead normalises x where it lies: as it is, or, since kernels take whole panels, in a
// tile.
func (s *step) normHead(id int, x, w []float32) {
	if len(x) == len(w) {
		s.kernels.Norm(x, w, x, len(x), s.config.Model.NormEps)
		return
	}
	own := s.workers[id].tile[:len(w)]
	clear(own[copy(own, x):])
	s.kernels.Norm(own, w, own, len(x), s.config.Model.NormEps)
	copy(x, own)
}
