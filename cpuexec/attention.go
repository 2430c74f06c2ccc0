package cpuexec

import (
	"math"

	"github.com/cbactor/cbactor/cpuexec/kernels"
)

// queryScale is what q is multiplied with: the softmax's 1/sqrt(headDim), and
// log2(e) because weights are powers of two.
func queryScale(headDim int) float32 {
	return float32(math.Log2E / math.Sqrt(float64(headDim)))
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
	s.cache.write(s.kernels, t.slot.table[t.pos/s.cache.pageSize], layer, head, t.pos%s.cache.pageSize, k, v)
}

// attend computes items times key heads, whichever is next: contexts differ in length,
// so threads take work as they come. Where spans are apart it stores first.
func (s *step) attend(id, layer int) {
	w, next := &s.workers[id].attention, &s.nextHead[layer]
	for {
		i := int(next.Add(1)) - 1
		if i >= len(s.items)*s.kvHeads {
			return
		}
		it, head := &s.items[i/s.kvHeads], i%s.kvHeads
		u := &s.spans[it.span]
		for j := 0; s.apart && j < u.count; j++ {
			s.storeHead(u.from+j, head, layer)
		}
		switch {
		case s.config.Attention == Plain:
			for j := range u.count {
				s.attendPlain(u.from+j, head, layer, w)
			}
			s.attended(u, head)
		case u.parts == 1:
			s.attendSpan(u, head, layer, w)
		default:
			s.attendPart(u, it.segment, head, layer, w)
		}
	}
}

// attendSpan computes the query heads that share a key head, of all tokens of u, over
// one segment after the other.
func (s *step) attendSpan(u *span, head, layer int, w *attention) {
	s.takeQueries(u, head, &w.queries)
	s.attendSegment(u, 0, head, layer, w, w.states)
	for i := 1; i < segments(u.end(), s.cache.pageSize); i++ {
		s.attendSegment(u, i, head, layer, w, w.next)
		s.mergeSegment(u, i, w.states, w.next)
	}
	s.finishSpan(u, head, w.states)
}

// attendPart is attendSpan for one segment. Who is the last with a segment of them merges
// all.
func (s *step) attendPart(u *span, segment, head, layer int, w *attention) {
	s.takeQueries(u, head, &w.queries)
	size := u.count * s.group * s.stateLen
	all := s.split[u.at+head*u.parts*size:][:u.parts*size]
	s.attendSegment(u, segment, head, layer, w, all[segment*size:][:size])
	done := &s.splitDone[u.split*s.kvHeads+head]
	if int(done.Add(1)) < u.parts {
		return
	}
	done.Store(0) // for the next layer
	for i := 1; i < u.parts; i++ {
		s.mergeSegment(u, i, all[:size], all[i*size:][:size])
	}
	s.finishSpan(u, head, all[:size])
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
// that see nothing of it have no state.
func (s *step) attendSegment(u *span, segment, head, layer int, w *attention, states []float32) {
	size := segmentOf(s.cache.pageSize)
	from, to := segment*size, min((segment+1)*size, u.end())
	for r := u.before(from) * s.group; r < u.count*s.group; r++ {
		kernels.ResetState(states[r*s.stateLen:][:s.stateLen])
	}
	this := s.cache.tile(u.slot.table, from, layer, head)
	for p := from; p < to; {
		n := min(kernels.Tile, s.cache.pageSize-this.at, to-p)
		then := this
		if p+n < to || p+n < u.end() && u.parts == 1 {
			then = s.cache.tile(u.slot.table, p+n, layer, head)
		} else if i := int(s.nextHead[layer].Load()); i < len(s.items)*s.kvHeads {
			then = s.firstTile(i, layer) // unless another thread takes it
		}
		row := u.before(p) * s.group
		q := w.queries.from(row, s.headDim)
		s.cache.attend(s.kernels, &q, this, then, states[row*s.stateLen:], s.sees(u, p, n, w))
		p, this = p+n, then
	}
}

// firstTile is the one that number i of items times key heads begins with.
func (s *step) firstTile(i, layer int) tile {
	it := &s.items[i/s.kvHeads]
	return s.cache.tile(s.spans[it.span].slot.table, it.segment*segmentOf(s.cache.pageSize), layer, i%s.kvHeads)
}

// sees is how many of n positions from p on each query sees of those that see any.
func (s *step) sees(u *span, p, n int, w *attention) []int32 {
	first := u.before(p)
	rows := (u.count - first) * s.group
	if u.pos+first >= p+n-1 {
		return s.seen[n][:rows]
	}
	for r := range rows {
		w.seen[r] = int32(min(n, u.pos+first+r/s.group+1-p))
	}
	return w.seen[:rows]
}

// mergeSegment adds a segment's states to those of the segments before it.
func (s *step) mergeSegment(u *span, segment int, states, next []float32) {
	for r := u.before(segment*segmentOf(s.cache.pageSize)) * s.group; r < u.count*s.group; r++ {
		kernels.MergeState(states[r*s.stateLen:][:s.stateLen], next[r*s.stateLen:][:s.stateLen])
	}
}

// finishSpan writes what attention answers for u's tokens and the query heads of a key
// head.
func (s *step) finishSpan(u *span, head int, states []float32) {
	for j := range u.count {
		out := s.attn.x[(u.from+j)*s.attnWidth+head*s.group*s.headDim:]
		for g := range s.group {
			kernels.FinishState(states[(j*s.group+g)*s.stateLen:][:s.stateLen], out[g*s.headDim:][:s.headDim])
		}
	}
	s.attended(u, head)
}

// attended packs what attention answers for u's tokens and the query heads of a key head.
func (s *step) attended(u *span, head int) {
	n := s.group * s.headDim
	s.quantisePart(&s.attn, u.from, u.count, head*n, n)
}
