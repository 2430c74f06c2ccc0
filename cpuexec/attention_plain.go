package cpuexec

import "math"

// attendPlain is attendSpan by the definition, in Go alone and for one token: all scores of
// a query head, their maximum, the weights and their sum, the weighted sum of V, each over
// ascending positions and in float32, every operation rounded by itself. What it
// answers depends on nothing but the sequence, not on the page size either. It is
// there to be compared with, several times slower than attendSpan.
func (s *step) attendPlain(i, head, layer int, w *attention) {
	t := &s.tokens[i]
	first := head * s.group * s.headDim
	for g := range s.group {
		at := first + g*s.headDim
		q, out := s.qkv[i*s.qkvWidth+at:][:s.headDim], s.attn.x[i*s.attnWidth+at:][:s.headDim]
		some := w.scores[:t.pos+1]
		s.scorePlain(t, q, head, layer, some, w.vector)
		sum := softmaxPlain(some)
		s.sumPlain(t, some, head, layer, out, w.vector)
		for d := range out {
			out[d] /= sum
		}
	}
}

// scorePlain writes the products of q with K of the positions up to t's; k is scratch.
func (s *step) scorePlain(t *token, q []float32, head, layer int, scores, k []float32) {
	clear(scores)
	for j := range scores {
		s.cache.key(t.slot.table[j/s.cache.pageSize], layer, head, j%s.cache.pageSize, k)
		for d, x := range q {
			scores[j] += float32(x * k[d])
		}
	}
}

// softmaxPlain makes weights of scores, which are logarithms to base 2, the largest
// one 1, and answers their sum.
func softmaxPlain(scores []float32) (sum float32) {
	most := float32(math.Inf(-1))
	for _, x := range scores {
		most = max(most, x)
	}
	for j, x := range scores {
		scores[j] = float32(math.Exp2(float64(x - most)))
		sum += scores[j]
	}
	return sum
}

// sumPlain writes V of the positions up to t's, each times its weight, summed; v is
// scratch.
func (s *step) sumPlain(t *token, weights []float32, head, layer int, out, v []float32) {
	clear(out)
	for j, w := range weights {
		s.cache.value(t.slot.table[j/s.cache.pageSize], layer, head, j%s.cache.pageSize, v)
		for d, x := range v {
			out[d] += float32(w * x)
		}
	}
}
