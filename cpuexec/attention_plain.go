package cpuexec

import "math"

// attendPlain is attendHead by the definition, in Go alone: all scores of a query
// head, their maximum, the weights and their sum, the weighted sum of V, each over
// ascending positions and in float32, every operation rounded by itself. What it
// answers depends on nothing but the sequence, not on the page size either. It is
// there to be compared with, several times slower than attendHead.
func (s *step) attendPlain(i, head, layer int, scores []float32) {
	t := &s.tokens[i]
	first := head * s.group * s.headDim
	for g := range s.group {
		at := first + g*s.headDim
		q, out := s.qkv[i*s.qkvWidth+at:][:s.headDim], s.attn.x[i*s.attnWidth+at:][:s.headDim]
		some := scores[:t.pos+1]
		s.scorePlain(t, q, head, layer, some)
		sum := softmaxPlain(some)
		s.sumPlain(t, some, head, layer, out)
		for d := range out {
			out[d] /= sum
		}
	}
}

// scorePlain writes the products of q with K of the positions up to t's.
func (s *step) scorePlain(t *token, q []float32, head, layer int, scores []float32) {
	clear(scores)
	for page := 0; page*s.cache.pageSize < len(scores); page++ {
		k, _ := s.cache.head(t.slot.table[page], layer, head)
		some := scores[page*s.cache.pageSize:]
		some = some[:min(s.cache.pageSize, len(some))]
		for d, x := range q {
			row := k[d*s.cache.pageSize:][:len(some)]
			for j, y := range row {
				some[j] += float32(x * y)
			}
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

// sumPlain writes V of the positions up to t's, each times its weight, summed.
func (s *step) sumPlain(t *token, weights []float32, head, layer int, out []float32) {
	clear(out)
	for j, w := range weights {
		_, v := s.cache.head(t.slot.table[j/s.cache.pageSize], layer, head)
		for d, x := range v[j%s.cache.pageSize*s.headDim:][:s.headDim] {
			out[d] += float32(w * x)
		}
	}
}
