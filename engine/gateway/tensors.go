package gateway

import (
	"bytes"
	"context"
	"fmt"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/internal/convert"
	"github.com/cbactor/cbactor/messages"
	"github.com/cbactor/cbactor/weights"
)

// useWeights has a call use the weights under a hold, behind those before it.
func (g *guest) useWeights(c *call, number uint64, use func(engine.HeldWeights) (*messages.Reply, error)) error {
	h, err := g.held(number)
	if err != nil {
		return err
	}
	g.start(c, &h.lane, job{run: func(ctx context.Context) (*messages.Reply, error) {
		w, err := h.Weights(ctx)
		if err != nil {
			return nil, err
		}
		return use(w)
	}})
	return nil
}

func (g *guest) heldNames(c *call, m *messages.HeldNames) error {
	return g.useWeights(c, m.GetHold(), func(w engine.HeldWeights) (*messages.Reply, error) {
		return &messages.Reply{What: &messages.Reply_Names{Names: &messages.Names{Names: w.Names()}}}, nil
	})
}

// readTensor tells bytes of a tensor. They are copied: the next call may write them while they are
// sent.
func (g *guest) readTensor(c *call, m *messages.ReadTensor) error {
	most := min(int(m.GetBytes()), g.options.Limits.Chunk)
	return g.useWeights(c, m.GetHold(), func(w engine.HeldWeights) (*messages.Reply, error) {
		t, err := part(w, m.GetName(), m.GetOffset())
		if err != nil {
			return nil, err
		}
		data := bytes.Clone(t.Data[m.GetOffset():][:min(most, len(t.Data)-int(m.GetOffset()))])
		return &messages.Reply{What: &messages.Reply_TensorPart{TensorPart: &messages.TensorPart{Dtype: t.DType.String(), Shape: convert.Shape(t.Shape), Data: data}}}, nil
	})
}

// writeTensor writes bytes of a tensor.
func (g *guest) writeTensor(c *call, m *messages.WriteTensor) error {
	return g.useWeights(c, m.GetHold(), func(w engine.HeldWeights) (*messages.Reply, error) {
		t, err := part(w, m.GetName(), m.GetOffset())
		if err != nil {
			return nil, err
		}
		if to := t.Data[m.GetOffset():]; len(m.GetData()) > len(to) {
			return nil, fmt.Errorf("%w: %d bytes from %d on of %.80q, which has %d", weights.ErrChunk, len(m.GetData()), m.GetOffset(), m.GetName(), len(t.Data))
		}
		copy(t.Data[m.GetOffset():], m.GetData())
		return nil, nil
	})
}

// part is a tensor that has bytes at an offset, or ends there.
func part(w engine.HeldWeights, name string, offset uint64) (weights.Tensor, error) {
	t, err := w.Tensor(name)
	if err == nil && offset > uint64(len(t.Data)) {
		err = fmt.Errorf("%w: offset %d in %.80q, which has %d bytes", weights.ErrChunk, offset, name, len(t.Data))
	}
	return t, err
}
