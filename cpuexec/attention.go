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
	half, kLen := s.headDim/2, s.kvHeads*s.headDim
	for i := lo; i < hi; i++ {
		t := &s.tokens[i]
		row := s.qkv[i*s.qkvWidth:][:s.qkvWidth]
		q, k, v := row[:s.attnDim()], row[s.attnDim():][:kLen], row[s.attnDim()+kLen:][:kLen]
		cos, sin := s.cos[i*half:][:half], s.sin[i*half:][:half]
		s.kernels.Rope(q, cos, sin, s.headDim, s.qScale)
		s.kernels.Rope(k, cos, sin, s.headDim, 1)
		block, at := t.slot.table[t.pos/s.cache.pageSize], t.pos%s.cache.pageSize
		for h := range s.kvHeads {
			s.cache.write(block, layer, h, at, k[h*s.headDim:][:s.headDim], v[h*s.headDim:][:s.headDim])
		}
	}
}

// attend computes attention of tokens and key heads, whichever is next: contexts
// differ in length, so threads take work as they come.
func (s *step) attend(id, layer int) {
	scratch, one := s.workers[id].scratch, s.attendHead
	if s.config.Attention == Plain {
		one = s.attendPlain
	}
	next := &s.nextHead[layer]
	for {
		i := int(next.Add(1)) - 1
		if i >= len(s.tokens)*s.kvHeads {
			return
		}
		one(i/s.kvHeads, i%s.kvHeads, layer, scratch)
	}
}

// attendHead computes the query heads that share a key head, of one token.
func (s *step) attendHead(i, head, layer int, states []float32) {
	t := &s.tokens[i]
	first := head * s.group * s.headDim
	q := s.qkv[i*s.qkvWidth+first:][:s.group*s.headDim]
	out := s.attn[i*s.attnWidth+first:][:s.group*s.headDim]
	size := kernels.StateLen(s.headDim)
	for g := range s.group {
		kernels.ResetState(states[g*size:][:size])
	}
	for page, left := 0, t.pos+1; left > 0; page, left = page+1, left-s.cache.pageSize {
		k, v := s.cache.head(t.slot.table[page], layer, head)
		for at := 0; at < min(left, s.cache.pageSize); at += kernels.Tile {
			n := min(left, s.cache.pageSize, at+kernels.Tile) - at
			s.kernels.Attend(q, k[at:], v[at*s.headDim:], nil, states, s.cache.pageSize, s.seen[n], s.headDim)
		}
	}
	for g := range s.group {
		kernels.FinishState(states[g*size:][:size], out[g*s.headDim:][:s.headDim])
	}
}
