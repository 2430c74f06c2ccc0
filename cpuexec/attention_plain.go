package cpuexec

import "math"

// attendPlain is attendSpan by the definition, in Go alone and for one token: all scores of
// a query head, their maximum, the weights and their sum, the weighted sum of V, each over
// ascending positions and in float32, every operation rounded by itself. What it
// answers depends on nothing but the sequence, not on the page size either. It is
// there to be compared with, several times slower than attendSpan.
func (s *step) attendPlain(i int, h *keyHead, w *attention) {
	t := &s.tokens[i]
	from := max(0, t.pos-h.window+1)
	sinks := s.weights.layers[h.layer].sinks
	for g := range s.group {
		number := h.head*s.group + g
		at := number * s.headDim
		q, out := s.qkv[i*s.qkvWidth+at:][:s.headDim], s.attn.x[i*s.attnWidth+at:][:s.headDim]
		some := w.scores[:t.pos+1-from]
		s.scorePlain(t, from, q, h, some, w.vector)
		sink := math.Inf(-1)
		if sinks != nil {
			sink = float64(sinks[number] * math.Log2E)
		}
		sum := softmaxPlain(some, sink)
		s.sumPlain(t, from, some, h, out, w.vector)
		for d := range out {
			out[d] /= sum
		}
	}
}

// scorePlain writes the products of q with K of positions up to t's, capped where the
// model says so; k is scratch.
func (s *step) scorePlain(t *token, from int, q []float32, h *keyHead, scores, k []float32) {
	clear(scores)
	for j := range scores {
		p := from + j
		s.cache.key(s.cache.block(t.slot, p, h.layer), h.layer, h.head, p%s.cache.pageSize, k)
		for d, x := range q {
			scores[j] += float32(x * k[d])
		}
		if s.scoreTop != 0 {
			scores[j] = float32(math.Tanh(float64(scores[j]))) * s.scoreTop
		}
	}
}

// softmaxPlain makes weights of scores, which are logarithms to base 2, the largest
// one, or that of a sink, 1, and answers their sum.
func softmaxPlain(scores []float32, sink float64) (sum float32) {
	most := float32(sink)
	for _, x := range scores {
		most = max(most, x)
	}
	for j, x := range scores {
		scores[j] = float32(math.Exp2(float64(x - most)))
		sum += scores[j]
	}
	return sum + float32(math.Exp2(sink-float64(most)))
}

// sumPlain writes V of positions up to t's, each times its weight, summed; v is
// scratch.
func (s *step) sumPlain(t *token, from int, weights []float32, h *keyHead, out, v []float32) {
	clear(out)
	for j, w := range weights {
		p := from + j
		s.cache.value(s.cache.block(t.slot, p, h.layer), h.layer, h.head, p%s.cache.pageSize, v)
		for d, x := range v {
			out[d] += float32(w * x)
		}
	}
}
