package cpuexec

import (
	"github.com/cbactor/cbactor/cpuexec/kernels"
	"github.com/cbactor/cbactor/model"
)

// work is a thread's part of a step. Between two syncs every thread writes only
// what no other one touches.
func (s *step) work(id int) {
	s.clock.mark(id, OpRest)
	s.embed(id)
	s.sync(id, OpEmbed)
	for l := range s.weights.layers {
		w := &s.weights.layers[l]
		s.project(id, l, s.norms(id, w.norms[0]))
		s.sync(id, OpQKV)
		if w.qNorm != nil {
			s.normHeads(id, w)
			s.sync(id, OpNorm)
		}
		if !s.round(l).apart {
			s.store(id, l)
			s.sync(id, OpStore)
		}
		s.attend(id, l)
		s.sync(id, OpAttention)
		s.addProduct(id, l, jointOut, s.finish(id, &s.attn))
		s.sync(id, OpOut)
		s.sum(id)
		s.settle(id, w.norms[1])
		if w.experts != nil {
			s.mix(id, l)
		} else {
			s.gate(id, l, s.norms(id, w.norms[2]))
			s.sync(id, OpGateUp)
			s.addProduct(id, l, jointDown, s.finish(id, &s.act))
			s.sync(id, OpDown)
		}
		s.sum(id)
		s.settle(id, w.norms[3])
	}
	s.head(id)
}

// embed looks up the rows of this thread's tokens and the angles of their positions.
func (s *step) embed(id int) {
	lo, hi := share(len(s.tokens), id, s.threads)
	for t := lo; t < hi; t++ {
		row := s.x[t*s.hiddenWidth:][:s.hiddenWidth]
		s.weights.embedding.Row(row[:s.hidden], int(s.tokens[t].id))
		clear(row[s.hidden:]) // where a row that failed may have left a NaN
		if f := s.config.Model.EmbedScale; f != 0 {
			scale(row[:s.hidden], float32(f))
		}
		for i := range s.rotations {
			s.rotations[i].at(t, s.tokens[t].pos)
		}
	}
}

// norms gives the rows of x, normalised. Each thread does its share, and a single row each
// for itself, which is faster than to wait.
func (s *step) norms(id int, w []float32) *input {
	if len(s.tokens) == 1 {
		own := &s.workers[id].own
		own.x, own.width = s.workers[id].norm, s.hiddenWidth
		s.normalise(own, 0, 0, w)
		s.clock.mark(id, OpNorm)
		return own
	}
	lo, hi := share(len(s.tokens), id, s.threads)
	for t := lo; t < hi; t++ {
		s.normalise(&s.norm, t, t, w)
	}
	s.sync(id, OpNorm)
	return &s.norm
}

// normalise makes the residual stream of a token row number row of what a matrix takes, as
// it is where w is nil.
func (s *step) normalise(in *input, row, token int, w []float32) {
	s.normal(in, row, token, w)
	s.quantise(in, row, 1)
}

// normal is normalise for who takes numbers alone: nothing is packed.
func (s *step) normal(in *input, row, token int, w []float32) {
	x := s.x[token*s.hiddenWidth:][:s.hiddenWidth]
	if w == nil {
		copy(in.x[row*in.width:], x)
	} else {
		s.kernels.Norm(x, w, in.x[row*in.width:][:in.width], s.hidden, s.config.Model.NormEps)
	}
}

// project writes this thread's columns of q, k and v, which are one matrix or several.
func (s *step) project(id, layer int, in *input) {
	s.lower(id, layer, jointQKV, in)
	lo, hi := share(s.qkvWidth/kernels.Panel, id, s.threads)
	l := linear{in: in, id: id, layer: layer, joint: jointQKV}
	matrices := s.weights.layers[layer].matrices[jointQKV]
	for i := range matrices {
		l.matrix = &matrices[i]
		for t := range l.parts(len(s.tokens), max(lo-l.first, 0), min(hi-l.first, l.count()), 1) {
			s.apply(&l, t, s.qkv[t.r*s.qkvWidth+(l.first+t.p)*kernels.Panel:], s.qkvWidth)
		}
		l.first += l.count()
	}
}

// gate writes this thread's columns of the gated product, silu(gate)*up in most families.
func (s *step) gate(id, layer int, in *input) {
	l := s.linear(id, layer, jointGateUp, in)
	s.gateRows(&l, len(s.tokens), &s.act)
}

// gateRows does that for so many rows of l's input, into those of act.
func (s *step) gateRows(l *linear, rows int, act *input) {
	lo, hi := share(l.count()/2, l.id, s.threads)
	tile := s.workers[l.id].tile
	for t := range l.parts(rows, lo, hi, 2) {
		if t.rows == 1 {
			s.apply(l, part{t.r, 1, 2 * t.p, 2 * t.panels}, tile, kernels.Panel)
		} else {
			s.apply(l, part{t.r, t.rows, 2 * t.p, 1}, tile, 2*kernels.Panel)
			s.apply(l, part{t.r, t.rows, 2*t.p + 1, 1}, tile[kernels.Panel:], 2*kernels.Panel)
		}
		first := t.p * kernels.Panel
		s.activate(tile, act.x[t.r*act.width+first:], t.tiles(), t.stride(act.width))
		s.quantisePart(act, t.r, t.rows, first, t.panels*kernels.Panel)
	}
}

// activate is SiluTile, or what the model has in its place.
func (s *step) activate(src, dst []float32, rows, stride int) {
	switch s.config.Model.Activation {
	case model.GELUTanh:
		s.kernels.GELUTile(src, dst, rows, stride)
	case model.ClampedSiLU:
		s.kernels.ClampedTile(src, dst, rows, stride, model.ClampAlpha, model.ClampLimit)
	default:
		s.kernels.SiluTile(src, dst, rows, stride)
	}
}

// addProduct adds this thread's columns of in times a matrix to x.
func (s *step) addProduct(id, layer, joint int, in *input) {
	l := s.linear(id, layer, joint, in)
	lo, hi := share(l.count(), id, s.threads)
	tile := s.workers[id].tile
	for t := range l.parts(len(s.tokens), lo, hi, 1) {
		s.apply(&l, t, tile, kernels.Panel)
		s.add(t, tile)
	}
}
