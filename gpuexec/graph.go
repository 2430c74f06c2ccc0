package gpuexec

import (
	"cmp"
	"errors"

	"github.com/cbactor/cbactor/cuda"
)

// graphKey names a shape of steps: all that their kernels are launched with, but what lies in buffers.
type graphKey struct {
	tokens, items, draws, segments int

	joints  int32        // to which adapters add
	weights cuda.Pointer // where they lie
	lists   captured     // where they begin, from the beginning of an input
}

// shape is what steps of one key have: a graph for the buffers of each step.
type shape struct {
	graphs [MaxOutstanding]*cuda.Graph
	used   int // when it was used last, in steps that had graphs
}

// shapes are those that have graphs, as many as memory is left for.
type shapes struct {
	of      map[graphKey]*shape
	without map[graphKey]bool // the driver had no memory for their graphs
	steps   int               // that had graphs
	warned  bool              // that there is no memory for one
}

// sizeGraphs decides how many shapes of steps have graphs. There are two at least: one may be running.
func (m *Memory) sizeGraphs(c *Config, d *dims) {
	if !c.Graphs.Varlen && !c.Graphs.Decode {
		return
	}
	const kernel, most, ofHead = 4096, 64, 5
	ofLayer, draws := 12, min(c.MaxSlots, powerAbove(c.MaxTokens))
	if c.MaxAdapters > 0 {
		ofLayer += 2 * joints
	}
	shape := int64(MaxOutstanding * kernel * (ofLayer*c.Model.Layers + 3 + ofHead*pages(draws, d.headRows)))
	m.Shapes = int(max(2, min(most, c.MaxMemory/16/shape)))
	m.Graphs = int64(m.Shapes) * shape
}

// replay runs a step as a graph. A shape that is seen for the first time is captured for all steps.
func (e *Executor) replay(s *step) error {
	at, _, err := e.input.pack(nil, 0)
	if err != nil {
		return err
	}
	key := graphKey{s.tokens, s.items, s.drawing, s.segments, s.joints, s.weights.embedding.At, at.captured}
	if e.shapes.without[key] {
		return e.enqueue(s)
	}
	known := e.shapes.of[key]
	if known == nil {
		known, err = e.learn(key, s)
		if errors.Is(err, cuda.ErrOutOfMemory) {
			e.doWithout(key, err)
			return e.enqueue(s)
		}
		if err != nil {
			return err
		}
	}
	e.shapes.steps++
	known.used = e.shapes.steps
	return known.graphs[s.number].Launch(e.compute)
}

// learn captures a new shape, in the place of the one that was used longest ago where there are as many as may
// be. Where the driver has no memory for its graphs, that one goes, too, and it is captured once more.
func (e *Executor) learn(key graphKey, s *step) (*shape, error) {
	if len(e.shapes.of) >= e.memory.Shapes {
		if err := e.forgetOldest(); err != nil {
			return nil, err
		}
	}
	made, err := e.captureAll(s)
	if errors.Is(err, cuda.ErrOutOfMemory) && len(e.shapes.of) > 0 {
		if err := e.forgetOldest(); err != nil {
			return nil, err
		}
		made, err = e.captureAll(s)
	}
	if err != nil {
		return nil, err
	}
	if e.shapes.of == nil {
		e.shapes.of = map[graphKey]*shape{}
	}
	e.shapes.of[key] = made
	return made, nil
}

// doWithout notes that the driver has no memory for graphs of a shape, and tells Warn the first time. When many
// are noted they are tried again: others may have left since.
func (e *Executor) doWithout(key graphKey, err error) {
	if e.shapes.without == nil || len(e.shapes.without) >= e.memory.Shapes {
		e.shapes.without = map[graphKey]bool{}
	}
	e.shapes.without[key] = true
	if warn := e.config.Warn; warn != nil && !e.shapes.warned {
		warn(err)
	}
	e.shapes.warned = true
}

// captureAll makes a shape of a step.
func (e *Executor) captureAll(s *step) (*shape, error) {
	made := &shape{}
	for i := range made.graphs {
		one := *s
		one.number = i
		var err error
		if one.sent, _, err = e.input.pack(nil, e.work.inputs[i]); err == nil {
			made.graphs[i], err = e.capture(&one)
		}
		if err != nil {
			return nil, errors.Join(err, made.close())
		}
	}
	return made, nil
}

// capture makes the graph of a step, ready on the device.
func (e *Executor) capture(s *step) (*cuda.Graph, error) {
	g, err := e.compute.Capture(func() error {
		return guard(func() error { return e.enqueue(s) }) // a capture that has begun must end
	})
	if err != nil {
		return nil, err
	}
	if err := g.Upload(e.compute); err != nil {
		return nil, errors.Join(err, g.Close())
	}
	return g, nil
}

// forgetOldest drops the graphs of the shape that was used longest ago. If that was by the step before, which
// may be running, it waits for that.
func (e *Executor) forgetOldest() error {
	oldest, used := graphKey{}, e.shapes.steps+1
	for k, s := range e.shapes.of {
		if s.used < used {
			oldest, used = k, s.used
		}
	}
	if used == e.shapes.steps {
		if err := e.compute.Synchronize(); err != nil {
			return err
		}
	}
	err := e.shapes.of[oldest].close()
	delete(e.shapes.of, oldest)
	return err
}

// close drops the graphs of a shape, and tells what failed first.
func (s *shape) close() (err error) {
	for i, g := range s.graphs {
		if g != nil {
			err = cmp.Or(err, g.Close())
			s.graphs[i] = nil
		}
	}
	return err
}

// forget drops all graphs. None may be running.
func (e *Executor) forget() (errs []error) {
	for _, s := range e.shapes.of {
		errs = append(errs, s.close())
	}
	clear(e.shapes.of)
	clear(e.shapes.without)
	return errs
}
