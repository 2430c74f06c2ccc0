package server

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/sampling"
	"github.com/cbactor/cbactor/weights"
)

// changing is a server of the tiny model whose weights change. Its tokens come slowly until
// it is hurried, and more slowly yet when a sequence has many, so that changes happen in the
// middle of sequences on a busy machine, too.
type changing struct {
	*rig
	model   *checkpoint.Checkpoint
	step    time.Duration
	hurried atomic.Bool
	drawn   atomic.Int64 // tokens, or a few more
}

func serveChanging(t *testing.T) *changing { return serveChangingWith(t, engine.Config{}) }

func serveChangingWith(t *testing.T, cfg engine.Config) *changing {
	t.Helper()
	model, codec := tinyModel(t)
	cfg.Checkpoint, cfg.WeightSets, cfg.NumBlocks = model, 2, 256
	c := &changing{model: model, step: 4 * time.Millisecond}
	c.rig = serve(t, cfg, Options{}, codec, nil)
	c.server.models[0].Texts = watched{c.server.models[0].Texts, c}
	return c
}

// manyDrawn is more tokens than tests wait for before they change something.
const manyDrawn = 100

// Process implements sampling.Processor.
func (c *changing) Process(ids []int32, prompt int, _ []float32) error {
	c.drawn.Add(1)
	if !c.hurried.Load() && len(ids) > prompt {
		step := c.step
		if len(ids)-prompt > manyDrawn {
			step *= 25
		}
		time.Sleep(step)
	}
	return nil
}

// update commits weights under a version: the model's own, with the signs of some turned over.
func (c *changing) update(version string, kv engine.KVPolicy) {
	c.t.Helper()
	list := c.tensors(2 + len(version))
	var m weights.Manifest
	for _, one := range list {
		m.Tensors = append(m.Tensors, weights.Entry{Name: one.name, DType: one.dtype, Shape: one.shape})
	}
	u, err := c.engine.Update(c.t.Context(), engine.UpdateOptions{Version: version, Manifest: m, KV: kv})
	if err != nil {
		c.t.Fatal(err)
	}
	for _, one := range list {
		if err := u.Put(one.name, one.dtype, one.shape, 0, one.data); err != nil {
			c.t.Fatal(err)
		}
	}
	if err := u.Commit(c.t.Context()); err != nil {
		c.t.Fatal(err)
	}
}

// moved waits until so many more tokens were drawn.
func (c *changing) moved(n int64) {
	c.t.Helper()
	want := c.drawn.Load() + n
	c.until("tokens are drawn", func() bool { return c.drawn.Load() >= want })
}

var _ sampling.Processor = (*changing)(nil)
