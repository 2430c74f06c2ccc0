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
	graphs [MaxOutstanding]*cuda.Graph // nil: the driver had no memory for them
	used   int                         // when it was used last, in steps that had graphs
}

// shapes are those that have graphs, as many as memory is left for.
type shapes struct {
	of     map[graphKey]*shape
	steps  int  // that had graphs
	warned bool // that there is no memory for one
}

// sizeGraphs decides how many shapes of steps have graphs. There are two at least: one may be running.
func (m *Memory) sizeGraphs(c *Config) {
	if !c.Graphs.Varlen && !c.Graphs.Decode {
		return
	}
	const kernel, most = 4096, 64
	ofLayer := 12
	if c.MaxAdapters > 0 {
		ofLayer += 2 * joints
	}
	shape := int64(MaxOutstanding * kernel * (ofLayer*c.Model.Layers + 8))
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
	known := e.shapes.of[key]
	if known == nil {
		if known, err = e.captureAll(s); err != nil {
			return err
		}
		if err := e.keep(key, known); err != nil {
			return err
		}
	}
	e.shapes.steps++
	known.used = e.shapes.steps
	if g := known.graphs[s.number]; g != nil {
		return g.Launch(e.compute)
	}
	return e.enqueue(s)
}

// captureAll makes a shape of a step. Where the driver has no memory for its graphs, it has none, of
// which Warn is told.
func (e *Executor) captureAll(s *step) (*shape, error) {
	made := &shape{}
	for i := range made.graphs {
		one := *s
		one.number = i
		var err error
		if one.sent, _, err = e.input.pack(nil, e.work.inputs[i]); err != nil {
			return nil, err
		}
		if made.graphs[i], err = e.capture(&one); err == nil {
			continue
		}
		err = errors.Join(err, made.close())
		if !errors.Is(err, cuda.ErrOutOfMemory) {
			return nil, err
		}
		if warn := e.config.Warn; warn != nil && !e.shapes.warned {
			warn(err)
		}
		e.shapes.warned = true
		return &shape{}, nil
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

// keep keeps a shape. If there are too many, the one that was used longest ago goes: it is not that of the
// step before, so nothing of it runs.
func (e *Executor) keep(key graphKey, made *shape) error {
	if e.shapes.of == nil {
		e.shapes.of = map[graphKey]*shape{}
	}
	var err error
	if len(e.shapes.of) >= e.memory.Shapes {
		oldest, used := graphKey{}, e.shapes.steps+1
		for k, s := range e.shapes.of {
			if s.used < used {
				oldest, used = k, s.used
			}
		}
		err = e.shapes.of[oldest].close()
		delete(e.shapes.of, oldest)
	}
	e.shapes.of[key] = made
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

// forget drops all graphs.
func (e *Executor) forget() (errs []error) {
	for _, s := range e.shapes.of {
		errs = append(errs, s.close())
	}
	clear(e.shapes.of)
	return errs
}
