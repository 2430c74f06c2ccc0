package cpuexec

import "github.com/cbactor/cbactor/cpuexec/kernels"

// mix adds what the experts of a layer answer, each for the tokens that take it.
func (s *step) mix(id, layer int) {
	w := &s.weights.layers[layer]
	s.route(id, w)
	s.sync(id, OpRoute)
	if id == 0 {
		s.mixture.sort(len(s.tokens) * s.perToken)
		s.clock.mixed(&s.mixture, w)
	}
	s.sync(id, OpRoute)
	s.gather(id)
	s.sync(id, OpRoute)
	s.gateExperts(id, layer, w)
	s.sync(id, OpGateUp)
	if s.mixture.act.late {
		s.quantiseAll(id, &s.mixture.act, s.mixture.rows)
	}
	s.multiplyDown(id, layer, w)
	s.addExperts(id, w)
	s.sync(id, OpDown)
}

// route normalises this thread's tokens and chooses their experts.
func (s *step) route(id int, w *layer) {
	lo, hi := share(len(s.tokens), id, s.threads)
	m, width := &s.mixture, padded(s.experts)
	for t := lo; t < hi; t++ {
		s.normal(&s.norm, t, t, w.norms[2]) // gather packs
		scores := m.scores[t*width:][:width]
		for p := range w.router.count() {
			s.kernels.Gemm(w.router.floats(p), s.norm.x[t*s.hiddenWidth:], scores[p*kernels.Panel:], w.router.k, 1, s.hiddenWidth, width)
		}
		if w.router.bias != nil {
			s.kernels.AddTile(scores, w.router.bias, width/kernels.Panel, kernels.Panel, kernels.Panel)
		}
		at := t * s.perToken
		choose(s.config.Model.MoE, scores[:s.experts], m.chosen[at:][:s.perToken], m.weight[at:][:s.perToken])
	}
}

// gather copies this thread's tokens to the rows of their experts.
func (s *step) gather(id int) {
	lo, hi := share(len(s.tokens)*s.perToken, id, s.threads)
	m := &s.mixture
	for i := lo; i < hi; i++ {
		row := int(m.row[i])
		copy(m.in.x[row*s.hiddenWidth:][:s.hiddenWidth], s.norm.x[i/s.perToken*s.hiddenWidth:])
		s.quantise(&m.in, row, 1)
	}
}

// expertAt is one product of an expert at work, on its rows of in.
func (s *step) expertAt(id, layer int, m *matrix, in *input, expert int) linear {
	own := &s.workers[id].expertIn
	*own = in.view(int(s.mixture.starts[expert]), s.packs)
	return linear{m, own, id, layer, noJoint, 0}
}

// gateExperts writes this thread's columns of the gated product of every expert that has
// tokens.
func (s *step) gateExperts(id, layer int, w *layer) {
	m, act := &s.mixture, &s.workers[id].expertAct
	for e := range w.experts {
		if rows := int(m.counts[e]); rows > 0 {
			l := s.expertAt(id, layer, &w.experts[e].gateUp, &m.in, e)
			*act = m.act.view(int(m.starts[e]), s.packs)
			s.gateRows(&l, rows, act)
		}
	}
}

// multiplyDown computes this thread's columns of what every expert that has tokens answers.
func (s *step) multiplyDown(id, layer int, w *layer) {
	m := &s.mixture
	for e := range w.experts {
		if rows := int(m.counts[e]); rows > 0 {
			down := &w.experts[e].down
			l := s.expertAt(id, layer, down, &m.act, e)
			lo, hi := share(down.count(), id, s.threads)
			for t := range down.parts(rows, lo, hi, 1) {
				s.apply(&l, t, m.out[(int(m.starts[e])+t.r)*s.hiddenWidth+t.p*kernels.Panel:], s.hiddenWidth)
			}
		}
	}
}

// addExperts adds to each token this thread's columns of what its own experts answer, the
// first chosen first.
func (s *step) addExperts(id int, w *layer) {
	m := &s.mixture
	lo, hi := share(w.experts[0].down.count(), id, s.threads)
	tile := s.workers[id].tile
	for t := range s.tokens {
		for p := lo; p < hi; p += tilePanels {
			part := part{t, 1, p, min(tilePanels, hi-p)}
			sum := tile[:part.panels*kernels.Panel]
			clear(sum)
			for j := range s.perToken {
				i := t*s.perToken + j
				addScaled(sum, m.out[int(m.row[i])*s.hiddenWidth+p*kernels.Panel:][:len(sum)], m.weight[i])
			}
			s.add(part, tile)
		}
	}
}

// addScaled adds x times f to sum, each operation rounded by itself.
func addScaled(sum, x []float32, f float32) {
	for i, v := range x {
		sum[i] += float32(v * f)
	}
}
