package gpuexec

import (
	"math/bits"

	"github.com/cbactor/cbactor/cuda"
)

// graphKey names a captured step: all that its kernels are launched with, but the content of buffers.
type graphKey struct {
	step     int // whose buffers it uses
	tokens   int
	segments int
	greedy   bool
	joints   int32        // to which adapters add
	weights  cuda.Pointer // where they lie
}

// decodes says that a step is one token of each of some sequences, behind which each draws on the
// device: such steps are captured.
func (s *step) decodes() bool {
	return s.tokens > 0 && s.tokens == s.items && s.tokens == len(s.draws) && len(s.samples) == 0
}

// pad makes a decoding step as large as its graph: with tokens that are nowhere, and draws of nobody.
func (e *Executor) pad(s *step) {
	if s.graphed = e.config.Graphs && s.decodes(); !s.graphed {
		return
	}
	for range min(paddedTokens(s.tokens), e.config.MaxTokens, e.config.MaxSlots) - s.tokens {
		e.input.nowhere()
	}
	if in := e.input; in.joints != 0 { // as many items as any such step has
		padding := e.config.loraInts(len(in.ids)) - len(in.loras)
		in.loras = append(in.loras, make([]int32, padding)...)
	}
	s.segments = min(powerAbove(s.segments), e.dims.segments)
}

// paddedTokens is what a decoding step's tokens are padded to: a power of two up to 8, then a multiple of 8,
// so that there are few graphs.
func paddedTokens(n int) int {
	if n <= 8 {
		return powerAbove(n)
	}
	return (n + 7) / 8 * 8
}

// powerAbove is the least power of two that is not below n.
func powerAbove(n int) int { return 1 << bits.Len(uint(n-1)) }

// replay runs a decoding step as a graph, which is captured when it is first needed.
func (e *Executor) replay(s *step) error {
	key := graphKey{s.number, s.tokens, s.segments, s.greedy, s.joints, s.weights.embedding}
	g := e.graphs[key]
	if g == nil {
		var err error
		if g, err = e.capture(s); err != nil {
			return err
		}
		e.graphs[key] = g
	}
	return g.Launch(e.compute)
}

// capture makes the graph of a step.
func (e *Executor) capture(s *step) (*cuda.Graph, error) {
	return e.compute.Capture(func() error {
		return guard(func() error { // a capture that has begun must end
			l := launching{Executor: e, s: s}
			l.layers()
			l.headDraws()
			return l.err
		})
	})
}

// forget drops all graphs.
func (e *Executor) forget() (errs []error) {
	for key, g := range e.graphs {
		errs = append(errs, g.Close())
		delete(e.graphs, key)
	}
	return errs
}
