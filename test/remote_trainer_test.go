package test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/remote"
	"github.com/cbactor/cbactor/weights"
)

// turned is what versions begin with whose weights are turnedWeights; others are the model's own.
const turned = "turned"

// modelWeights are those of a model, and all of its tensors.
func modelWeights(path string) (*weights.Set, weights.Manifest, error) {
	model, err := checkpoint.Open(path)
	if err != nil {
		return nil, weights.Manifest{}, err
	}
	set, err := weights.Load(model.Config, model, 1, "")
	if err != nil {
		return nil, weights.Manifest{}, err
	}
	var m weights.Manifest
	for t := range set.All() {
		m.Tensors = append(m.Tensors, weights.Entry{Name: t.Name, DType: t.DType.String(), Shape: t.Shape})
	}
	return set, m, nil
}

// turn turns the sign of some numbers over: twice is as before.
func turn(set *weights.Set) {
	for t := range set.All() {
		size := t.DType.RowBytes(1)
		for i := size - 1; i < len(t.Data); i += 3 * size {
			t.Data[i] ^= 0x80
		}
	}
}

// update has weights serve, in chunks.
func update(ctx context.Context, api engine.API, version string, set *weights.Set, m weights.Manifest) error {
	u, err := api.Update(ctx, engine.UpdateOptions{Version: version, KV: engine.KVRecompute, Manifest: m})
	if err != nil {
		return err
	}
	defer u.Abort()
	for t := range set.All() {
		if err := u.Put(t.Name, t.DType.String(), t.Shape, 0, t.Data); err != nil {
			return err
		}
	}
	return u.Commit(ctx)
}

// trained is what a trainer says of an update, when it has ended.
type trained struct{ Version, Error string }

// train turns the weights of an engine over, again and again, and pauses it meanwhile, until
// ctx ends. What goes wrong is said, and tried again.
func train(ctx context.Context, p part) error {
	c, err := remote.Connect(ctx, p.Address, remote.Options{})
	if err != nil {
		return err
	}
	set, manifest, err := modelWeights(checkpoint.Embedded)
	if err != nil {
		return err
	}
	for n := 1; ctx.Err() == nil; n++ {
		version := fmt.Sprintf("own-%d-%d", os.Getpid(), n)
		if turn(set); n%2 == 1 {
			version = turned + version
		}
		line := trained{Version: version}
		err := update(ctx, c, version, set, manifest)
		if err == nil && n%3 == 0 {
			err = pauseAWhile(ctx, c)
		}
		if err != nil && ctx.Err() == nil {
			line.Error = err.Error()
		}
		if err := say(line); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(200 * time.Millisecond):
		}
	}
	return c.Close()
}

// pauseAWhile pauses for a moment. A lease that ends before is no error: the process was stopped.
func pauseAWhile(ctx context.Context, api engine.API) error {
	h, err := api.Pause(ctx, engine.PauseOptions{Lease: 500 * time.Millisecond})
	if err != nil {
		return err
	}
	time.Sleep(100 * time.Millisecond)
	if err := h.Release(""); !errors.Is(err, engine.ErrHoldLost) {
		return err
	}
	return nil
}
