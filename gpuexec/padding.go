package gpuexec

import (
	"math/bits"

	"github.com/cbactor/cbactor/cuda/kernels"
)

// pad makes a step as large as its graph, where it has one: with tokens that are nowhere, items without
// tokens, and draws of nobody.
func (e *Executor) pad(s *step) {
	s.drawing = len(s.draws)
	c := &e.config
	wanted := c.Graphs.Varlen
	if s.tokens == s.items {
		wanted = c.Graphs.Decode
	}
	if s.graphed = wanted && s.tokens > 0; !s.graphed {
		return
	}
	tokens, draws := few(s.tokens), few(s.drawing)
	if s.tokens > splitTokens && s.tokens > s.items {
		tokens, draws = above(s.tokens, c.QPadding), powerAbove(s.drawing)
	}
	s.greedy = false // the kernel that draws otherwise does that, too
	s.tokens = min(tokens, c.MaxTokens)
	s.items = min(powerAbove(s.items), s.tokens)
	s.drawing = min(draws, c.MaxSlots)
	if s.segments > 1 {
		s.segments = min(above(s.segments, pages(c.KVPadding, kernels.Segment)), e.dims.segments)
	}
	if s.joints != 0 {
		s.loras = kernels.LoraItems(s.tokens, c.MaxAdapters)
	}
	e.input.pad(s.tokens, s.items, s.drawing, s.loras)
}

// few is what decoding tokens and draws are padded to: a power of two up to 8, then a multiple of 8, and of more
// than 128 one of a 16th of the next power of two, so that there are few graphs.
func few(n int) int {
	if n <= 8 {
		return powerAbove(n)
	}
	return above(n, max(8, powerAbove(n)/16))
}

// sizes are what decoding steps are padded to.
func sizes(c *Config) (list []int) {
	most := min(c.MaxSlots, c.MaxTokens)
	for n := 1; n < most; n = few(n + 1) {
		list = append(list, n)
	}
	return append(list, most)
}

// above is the least multiple of step that is not below n.
func above(n, step int) int { return (n + step - 1) / step * step }

// powerAbove is the least power of two that is not below n; of 0 it is 0.
func powerAbove(n int) int {
	if n == 0 {
		return 0
	}
	return 1 << bits.Len(uint(n-1))
}
