package sampling

// candidates are the tokens that may be drawn, by ascending id, and their
// probabilities up to a common factor. ranks are the filters' scratch.
type candidates struct {
	ids     []int32
	weights []float64
	ranks   []uint32
}

func (c *candidates) reset() { c.ids, c.weights = c.ids[:0], c.weights[:0] }

func (c *candidates) add(id int32, weight float64) {
	c.ids = append(c.ids, id)
	c.weights = append(c.weights, weight)
}

func (c *candidates) total() float64 {
	sum := 0.0
	for _, w := range c.weights {
		sum += w
	}
	return sum
}

// draw takes the first candidate at which the cumulative weight exceeds need. The sums
// are total's to the bit, so where need is below that, it never is one of weight 0 at the
// end.
func (c *candidates) draw(need float64) int32 {
	last := len(c.ids) - 1
	i, sum := 0, c.weights[0]
	for sum <= need && i < last {
		i++
		sum += c.weights[i]
	}
	return c.ids[i]
}
