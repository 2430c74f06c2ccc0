package sampling

import "math"

// candidates are the tokens that may be drawn, by ascending id, with their ranks
// and their probabilities up to a common factor.
type candidates struct {
	ids     []int32
	ranks   []uint32
	weights []float64
}

func (c *candidates) reset() {
	c.ids, c.ranks, c.weights = c.ids[:0], c.ranks[:0], c.weights[:0]
}

func (c *candidates) add(id int32, rank uint32, weight float64) {
	c.ids = append(c.ids, id)
	c.ranks = append(c.ranks, rank)
	c.weights = append(c.weights, weight)
}

func (c *candidates) total() float64 {
	sum := 0.0
	for _, w := range c.weights {
		sum += w
	}
	return sum
}

// draw takes the first candidate at which the cumulative probability exceeds u.
func (c *candidates) draw(u float64) (id int32, logprob float32) {
	total := c.total()
	last := len(c.ids) - 1
	i, sum := 0, c.weights[0]
	for sum <= u*total && i < last {
		i++
		sum += c.weights[i]
	}
	return c.ids[i], float32(math.Log(c.weights[i] / total))
}
