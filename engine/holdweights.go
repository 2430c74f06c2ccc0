package engine

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"sync"

	"github.com/cbactor/cbactor/model"
	"github.com/cbactor/cbactor/weights"
)

// heldWeights are the HeldWeights of an Engine.
type heldWeights struct {
	engine *Engine
	base   *weights.Set // kept until left

	mu    sync.Mutex
	taken map[string]weights.Tensor // copies that the holder has
	left  bool                      // the hold has ended, the memory of base is another's
}

// Weights implements Hold.
func (h *hold) Weights(ctx context.Context) (HeldWeights, error) {
	if err := h.lost(); err != nil {
		return nil, fmt.Errorf("weights: %w", err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.weights == nil {
		base, err := h.engine.borrow(ctx)
		if err != nil {
			return nil, fmt.Errorf("weights: %w", err)
		}
		w := &heldWeights{engine: h.engine, base: base, taken: map[string]weights.Tensor{}}
		h.weights = w
		go func() { // the hold may be lost, which nobody has to notice
			<-h.held.Done()
			w.leave()
		}()
	}
	return h.weights, nil
}

// leave lets the store have the memory again, once.
func (w *heldWeights) leave() {
	w.mu.Lock()
	first := !w.left
	w.left = true
	w.mu.Unlock()
	if first {
		w.engine.giveBack(w.base)
	}
}

// Names implements HeldWeights.
func (w *heldWeights) Names() (names []string) {
	for t := range w.base.All() {
		names = append(names, t.Name)
	}
	return names
}

// Tensor implements HeldWeights.
func (w *heldWeights) Tensor(name string) (weights.Tensor, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.left {
		return weights.Tensor{}, fmt.Errorf("%w: so are its weights", ErrHoldLost)
	}
	if t, ok := w.taken[name]; ok {
		return t, nil
	}
	t, ok := w.base.Tensor(name)
	if !ok {
		return t, fmt.Errorf("%w: %.80q", weights.ErrUnknown, name)
	}
	t = floats(t)
	w.taken[name] = t
	return t, nil
}

// floats is a copy of a tensor in a type of plain floating-point numbers, with the shape
// that it has in that type.
func floats(t weights.Tensor) weights.Tensor {
	if plain(t) {
		return weights.Tensor{Tensor: t.Tensor, Data: bytes.Clone(t.Data)}
	}
	out := weights.Tensor{Tensor: t.As(model.F32)}
	out.Data = make([]byte, 0, out.Bytes())
	for row := range rows(t) {
		out.Data = append(out.Data, row...)
	}
	return out
}

// plain tells that a tensor is stored as plain floating-point numbers.
func plain(t weights.Tensor) bool {
	return t.DType == model.F32 || t.DType == model.F16 || t.DType == model.BF16
}

// rows are the rows of a tensor as F32, one after the other in the same memory.
func rows(t weights.Tensor) iter.Seq[[]byte] {
	widened := straight
	if t.As(model.F32).Transposed() != t.Transposed() {
		widened = across
	}
	return func(yield func([]byte) bool) {
		var data []byte
		for row := range widened(t) {
			data = data[:0]
			for _, v := range row {
				data = binary.LittleEndian.AppendUint32(data, math.Float32bits(v))
			}
			if !yield(data) {
				return
			}
		}
	}
}

// straight are the rows of a tensor as they are stored.
func straight(t weights.Tensor) iter.Seq[[]float32] {
	return func(yield func([]float32) bool) {
		row := make([]float32, t.Shape[len(t.Shape)-1])
		for r := range t.Elements() / len(row) {
			if t.Row(row, r); !yield(row) {
				return
			}
		}
	}
}

// across are the columns of each matrix of a tensor of three dimensions.
func across(t weights.Tensor) iter.Seq[[]float32] {
	return func(yield func([]float32) bool) {
		out, in := t.Shape[1], t.Shape[2]
		matrix, column := make([]float32, out*in), make([]float32, out)
		for e := range t.Shape[0] {
			for o := range out {
				t.Row(matrix[o*in:][:in], e*out+o)
			}
			for i := range in {
				for o := range out {
					column[o] = matrix[o*in+i]
				}
				if !yield(column) {
					return
				}
			}
		}
	}
}

// changed tells that a copy is not what floats made of a tensor.
func changed(t, copied weights.Tensor) bool {
	if plain(t) {
		return !bytes.Equal(t.Data, copied.Data)
	}
	rest := copied.Data
	for row := range rows(t) {
		if !bytes.Equal(row, rest[:len(row)]) {
			return true
		}
		rest = rest[len(row):]
	}
	return false
}

// written are the copies that differ from what they are copies of, by name.
func (w *heldWeights) written() (list []weights.Tensor) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.left { // the hold was lost, and base is another's memory
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(w.taken)) {
		base, _ := w.base.Tensor(name)
		if t := w.taken[name]; changed(base, t) {
			list = append(list, t)
		}
	}
	return list
}

// commit makes a version of what was written, if anything was.
func (h *hold) commit(ctx context.Context, version string) (committed bool, err error) {
	h.mu.Lock()
	w := h.weights
	h.weights = nil
	h.mu.Unlock()
	if w == nil {
		return false, nil
	}
	var list []weights.Tensor
	if err = h.lost(); err == nil {
		list = w.written()
	}
	w.leave() // what is written in place is written over the base, too
	if err != nil || len(list) == 0 {
		return false, err
	}
	err = h.engine.amend(ctx, w.base.Version, version, list)
	return err == nil || errors.Is(err, ErrCommitted), err
}

// amend makes a version that has some tensors in the place of those of its base.
func (e *Engine) amend(ctx context.Context, base, version string, list []weights.Tensor) error {
	o := UpdateOptions{Base: base, Version: version, Manifest: weights.Manifest{Partial: true}}
	for _, t := range list {
		o.Manifest.Tensors = append(o.Manifest.Tensors, weights.Entry{Name: t.Name, DType: t.DType.String(), Shape: t.Shape})
	}
	send := func(put weights.Put) error {
		for _, t := range list {
			if err := put(t.Name, t.DType.String(), t.Shape, 0, t.Data); err != nil {
				return err
			}
		}
		return nil
	}
	u, err := e.Update(ctx, o)
	if errors.Is(err, weights.ErrMemory) {
		return e.UpdateInPlace(ctx, o, send)
	}
	if err != nil {
		return err
	}
	defer u.Abort()
	if err := send(u.Put); err != nil {
		return err
	}
	return u.Commit(ctx)
}
