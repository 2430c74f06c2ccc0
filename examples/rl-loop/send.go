package main

import (
	"context"
	"encoding/binary"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/weights"
)

// send updates one tensor of the weights that serve; all others stay.
func send(ctx context.Context, e *engine.Engine, version string, norm []float32, kv engine.KVPolicy) error {
	data, err := binary.Append(nil, binary.LittleEndian, norm)
	if err != nil {
		return err
	}
	entry := weights.Entry{Name: normName, DType: "F32", Shape: []int{len(norm)}, Digest: weights.Sum(weights.XXH3_64, data)}
	u, err := e.Update(ctx, engine.UpdateOptions{Base: e.Version(), Version: version, KV: kv,
		Manifest: weights.Manifest{Partial: true, Tensors: []weights.Entry{entry}}})
	if err != nil {
		return err
	}
	defer u.Abort() // after Commit it does nothing
	if err := u.Put(entry.Name, entry.DType, entry.Shape, 0, data); err != nil {
		return err
	}
	return u.Commit(ctx)
}
