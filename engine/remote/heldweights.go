package remote

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/internal/convert"
	"github.com/cbactor/cbactor/messages"
	"github.com/cbactor/cbactor/model"
	"github.com/cbactor/cbactor/weights"
)

// heldWeights are copies of the weights at the engine.
type heldWeights struct {
	hold  *hold
	names []string

	mu    sync.Mutex
	taken map[string]copied
}

// copied is a tensor that the holder has, and the digest of what it is a copy of.
type copied struct {
	weights.Tensor
	digest weights.Digest
}

// Weights implements engine.Hold.
func (h *hold) Weights(ctx context.Context) (engine.HeldWeights, error) {
	if err := h.lost(); err != nil {
		return nil, fmt.Errorf("weights: %w", err)
	}
	r, err := h.ask(ctx, &messages.Call{What: &messages.Call_HeldNames{HeldNames: &messages.HeldNames{Hold: h.number}}})
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.weights == nil {
		h.weights = &heldWeights{hold: h, names: r.GetNames().GetNames(), taken: map[string]copied{}}
	}
	return h.weights, nil
}

// Names implements engine.HeldWeights.
func (w *heldWeights) Names() []string { return slices.Clone(w.names) }

// Tensor implements engine.HeldWeights. It reads the whole of the tensor over the network.
func (w *heldWeights) Tensor(name string) (weights.Tensor, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.hold.lost(); err != nil {
		return weights.Tensor{}, fmt.Errorf("%w: so are its weights", err)
	}
	if t, ok := w.taken[name]; ok {
		return t.Tensor, nil
	}
	t, err := w.read(name)
	if err != nil {
		return t, err
	}
	w.taken[name] = copied{t, weights.Sum(weights.XXH3_128, t.Data)}
	return t, nil
}

// read reads a tensor in parts.
func (w *heldWeights) read(name string) (t weights.Tensor, err error) {
	for whole := -1; len(t.Data) != whole; {
		m := &messages.ReadTensor{Hold: w.hold.number, Name: name, Offset: uint64(len(t.Data)), Bytes: uint32(w.hold.client.link.said.Load().chunk)}
		r, err := w.hold.ask(w.hold.ctx, &messages.Call{What: &messages.Call_ReadTensor{ReadTensor: m}})
		if err != nil {
			return weights.Tensor{}, err
		}
		part := r.GetTensorPart()
		if whole < 0 {
			if t.Tensor, err = described(name, part); err != nil {
				return weights.Tensor{}, err
			}
			whole = t.Bytes()
		}
		if n := len(part.GetData()); n == 0 && whole > 0 || n > whole-len(t.Data) {
			return weights.Tensor{}, fmt.Errorf("%w: %d bytes of tensor %.80q at %d of %d", ErrMalformed, n, name, len(t.Data), whole)
		}
		t.Data = append(t.Data, part.GetData()...)
	}
	return t, nil
}

// described is what a part of a tensor tells of the whole.
func described(name string, m *messages.TensorPart) (t model.Tensor, err error) {
	t.Name = name
	if t.Shape, err = convert.ShapeOf(m.GetShape()); err != nil {
		return t, err
	}
	for _, kind := range []model.DType{model.F32, model.F16, model.BF16} {
		if kind.String() == m.GetDtype() {
			t.DType = kind
			return t, nil
		}
	}
	return t, fmt.Errorf("%w: tensor %.80q is of type %.40q", ErrMalformed, name, m.GetDtype())
}

// send sends what was written: the copies that differ from what they are copies of. The bytes are
// copied again: they may be sent when the holder has them back.
func (w *heldWeights) send() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	c, f := w.hold.client.link.said.Load().chunk, w.hold.client.newFlow(w.hold.run)
	for _, name := range slices.Sorted(maps.Keys(w.taken)) {
		t := w.taken[name]
		if weights.Sum(weights.XXH3_128, t.Data) == t.digest {
			continue
		}
		for offset := 0; offset < len(t.Data); offset += c {
			m := &messages.WriteTensor{Hold: w.hold.number, Name: name, Offset: uint64(offset), Data: bytes.Clone(t.Data[offset:min(offset+c, len(t.Data))])}
			if err := f.put(w.hold.ctx, &messages.Call{What: &messages.Call_WriteTensor{WriteTensor: m}}); err != nil {
				return err
			}
		}
	}
	return f.wait(w.hold.ctx)
}
