package cpuexec

import (
	"cmp"
	"math"

	"github.com/cbactor/cbactor/cpuexec/kernels"
	"github.com/cbactor/cbactor/model"
)

// scoreScale says what q is multiplied with, log2(e) with it because weights are powers of
// two, and what scores are capped at, in the same powers; 0: nothing.
func scoreScale(m *model.Config) (scale, top float32) {
	x := cmp.Or(m.AttnScale, 1/math.Sqrt(float64(m.HeadDim)))
	if m.AttnSoftcap != 0 { // c*tanh(q*k*x/c)
		return float32(x / m.AttnSoftcap), float32(m.AttnSoftcap * math.Log2E)
	}
	return float32(x * math.Log2E), 0
}

// store rotates q and k of this thread's tokens and writes k and v to the cache.
func (s *step) store(id, layer int) {
	lo, hi := share(len(s.tokens), id, s.threads)
	for i := lo; i < hi; i++ {
		for h := range s.kvHeads {
			s.storeHead(i, h, layer)
		}
	}
}

// storeHead does that for a token, for a key head and the query heads that share it.
func (s *step) storeHead(i, head, layer int) {
	t, dim := &s.tokens[i], s.headDim
	row := s.qkv[i*s.qkvWidth:][:s.qkvWidth]
	q := row[head*s.group*dim:][:s.group*dim]
	k := row[s.attnDim()+head*dim:][:dim]
	v := row[s.attnDim()+(s.kvHeads+head)*dim:][:dim]
	s.turn(q, k, i, layer)
	s.cache.write(s.kernels, s.cache.block(t.slot, t.pos, layer), layer, head, t.pos%s.cache.pageSize, k, v)
}

// keyHead is a key head of a layer, as a span attends to it.
type keyHead struct {
	layer, head int
	window      int
	cut         spanCut
}

// round is what a layer attends to.
func (s *step) round(layer int) *round { return &s.rounds[s.cache.layers[layer].group] }

// attend computes items times key heads, whichever is next: contexts differ in length,
// so threads take work as they come. Where spans are apart it stores first.
func (s *step) attend(id, layer int) {
	w, next, r := &s.workers[id].attention, &s.nextHead[layer], s.round(layer)
	for {
		i := int(next.Add(1)) - 1
		if i >= len(r.items)*s.kvHeads {
			return
		}
		it, h := &r.items[i/s.kvHeads], keyHead{layer: layer, head: i % s.kvHeads, window: r.window}
		u := &s.spans[it.span]
		h.cut = u.cuts[s.cache.layers[layer].group]
		for j := 0; r.apart && j < u.count; j++ {
			s.storeHead(u.from+j, h.head, layer)
		}
		switch {
		case s.config.Attention == Plain:
			for j := range u.count {
				s.attendPlain(u.from+j, &h, w)
			}
			s.attended(u, h.head)
		case h.cut.parts == 1:
			s.attendSpan(u, &h, w)
		default:
			s.attendPart(u, it.segment, &h, w)
		}
	}
}

// attendSpan computes the query heads that share a key head, of all tokens of u, over
// one segment after the other.
func (s *step) attendSpan(u *span, h *keyHead, w *attention) {
	s.takeQueries(u, h.head, &w.queries)
	s.attendSegment(u, h.cut.first, h, w, w.states)
	for i := h.cut.first + 1; i < segments(u.end(), s.cache.pageSize); i++ {
		s.attendSegment(u, i, h, w, w.next)
		s.mergeSegment(u, i, h, w.states, w.next)
	}
	s.finishSpan(u, h, w.states)
}

// attendPart is attendSpan for one segment. Who is the last with a segment of them merges
// all.
func (s *step) attendPart(u *span, segment int, h *keyHead, w *attention) {
	s.takeQueries(u, h.head, &w.queries)
	size, c := u.count*s.group*s.stateLen, &h.cut
	all := s.split[c.at+h.head*c.parts*size:][:c.parts*size]
	s.attendSegment(u, segment, h, w, all[(segment-c.first)*size:][:size])
	done := &s.splitDone[c.split*s.kvHeads+h.head]
	if int(done.Add(1)) < c.parts {
		return
	}
	done.Store(0) // for the next layer
	for i := 1; i < c.parts; i++ {
		s.mergeSegment(u, c.first+i, h, all[:size], all[i*size:][:size])
	}
	s.finishSpan(u, h, all[:size])
}

// takeQueries copies u's queries of a key head side by side, as the cache's type wants
// them.
func (s *step) takeQueries(u *span, head int, q *queries) {
	n := s.group * s.headDim
	for j := range u.count {
		from := s.qkv[(u.from+j)*s.qkvWidth+head*n:][:n]
		if q.packed == nil {
			copy(q.floats[j*n:], from)
			continue
		}
		for g := range s.group {
			size := kernels.QueryLen(s.headDim)
			s.kernels.QuantiseQuery(from[g*s.headDim:][:s.headDim], q.packed[(j*s.group+g)*size:][:size])
		}
	}
}

// attendSegment sets states to what u's queries see of one segment, tile after tile. Those
// that see nothing of it have no state. Tiles begin and end where they do without a window;
// whose window begins within one attends to the rest of it.
func (s *step) attendSegment(u *span, segment int, h *keyHead, w *attention, states []float32) {
	from, to := s.segment(u, segment)
	for r := u.before(from) * s.group; r < u.until(to-1, h.window)*s.group; r++ {
		kernels.ResetState(states[r*s.stateLen:][:s.stateLen])
	}
	from = s.tileAt(max(from, u.first(h.window)))
	this := s.cache.tile(u.slot, from, h.layer, h.head)
	for p := from; p < to; {
		n := min(kernels.Tile, s.cache.pageSize-this.at, to-p)
		then := this
		if p+n < to || p+n < u.end() && h.cut.parts == 1 {
			then = s.cache.tile(u.slot, p+n, h.layer, h.head)
		} else if r, i := s.round(h.layer), int(s.nextHead[h.layer].Load()); i < len(r.items)*s.kvHeads {
			then = s.firstTile(r, i, h.layer) // unless another thread takes it
		}
		first, end := u.before(p), u.until(p, h.window)
		if first < end {
			q := w.queries.from(first*s.group, s.headDim)
			s.cache.attend(s.kernels, &q, this, then, states[first*s.group*s.stateLen:], s.sees(u, p, n, first, end, w), s.scoreTop)
		}
		for j := end; j < u.until(p+n-1, h.window); j++ {
			s.attendLate(u, j, p, n, h, w, states)
		}
		p, this = p+n, then
	}
}

// segment is from where to where a segment of the sequence goes that u ends.
func (s *step) segment(u *span, segment int) (from, to int) {
	size := segmentOf(s.cache.pageSize)
	return segment * size, min((segment+1)*size, u.end())
}

// tileAt is where the tile begins that has position p.
func (s *step) tileAt(p int) int { return p - p%s.cache.pageSize%kernels.Tile }

// firstTile is the one that number i of r's items times key heads begins with.
func (s *step) firstTile(r *round, i, layer int) tile {
	it := &r.items[i/s.kvHeads]
	u := &s.spans[it.span]
	from, _ := s.segment(u, it.segment)
	return s.cache.tile(u.slot, s.tileAt(max(from, u.first(r.window))), layer, i%s.kvHeads)
}

// sees is how many of n positions from p on each query sees, of tokens from first to
// before end.
func (s *step) sees(u *span, p, n, first, end int, w *attention) []int32 {
	rows := (end - first) * s.group
	if u.pos+first >= p+n-1 {
		return s.seen[n][:rows]
	}
	for r := range rows {
		w.seen[r] = int32(min(n, u.pos+first+r/s.group+1-p))
	}
	return w.seen[:rows]
}

// mergeSegment adds a segment's states to those of the segments before it, or begins with
// them where there is none.
func (s *step) mergeSegment(u *span, segment int, h *keyHead, states, next []float32) {
	from, to := s.segment(u, segment)
	begun := u.until(from-1, h.window) * s.group
	for r := u.before(from) * s.group; r < u.until(to-1, h.window)*s.group; r++ {
		state, more := states[r*s.stateLen:][:s.stateLen], next[r*s.stateLen:][:s.stateLen]
		if r < begun {
			kernels.MergeState(state, more)
		} else {
			copy(state, more)
		}
	}
}

// finishSpan writes what attention answers for u's tokens and the query heads of a key
// head.
func (s *step) finishSpan(u *span, h *keyHead, states []float32) {
	sinks := s.weights.layers[h.layer].sinks
	for j := range u.count {
		out := s.attn.x[(u.from+j)*s.attnWidth+h.head*s.group*s.headDim:]
		for g := range s.group {
			state, out := states[(j*s.group+g)*s.stateLen:][:s.stateLen], out[g*s.headDim:][:s.headDim]
			if sinks == nil {
				kernels.FinishState(state, out)
			} else {
				kernels.FinishSink(state, out, sinks[h.head*s.group+g]*math.Log2E)
			}
		}
	}
	s.attended(u, h.head)
}

// attended packs what attention answers for u's tokens and the query heads of a key head.
func (s *step) attended(u *span, head int) {
	n := s.group * s.headDim
	s.quantisePart(&s.attn, u.from, u.count, head*n, n)
}
