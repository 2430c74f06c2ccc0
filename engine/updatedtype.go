package engine

import (
	"github.com/cbactor/cbactor/model"
	"github.com/cbactor/cbactor/weights"
)

// stored are what updates are cast to, by Config.UpdateDType.
var stored = map[string]model.DType{"sent": model.Invalid, "f32": model.F32, "f16": model.F16, "bf16": model.BF16}

// updates are the bounds of the store of weight sets: what the executor leaves, and for
// what is cast two of the largest tensors that wait as they were sent.
func (r *Resolved) updates() (o weights.Options) {
	m := &r.Memory
	if m.Limit > 0 {
		o.Limit = int(max(m.WeightSet, m.Usable-m.ofExecutor()))
	}
	if o.Storage = stored[r.Config.UpdateDType]; o.Storage != model.Invalid {
		for _, t := range r.Config.Checkpoint.Config.Tensors() {
			o.Staging = max(o.Staging, 2*bytesAs(t, model.F32))
		}
	}
	return o
}

// nextSet is Memory.NextSet where there is one, in bytes.
func (r *Resolved) nextSet() (n int64) {
	o := r.updates()
	if o.Storage == model.Invalid {
		return r.Memory.WeightSet
	}
	for _, t := range r.Config.Checkpoint.Config.Tensors() {
		n += int64(bytesAs(t, o.Storage))
	}
	return n + int64(o.Staging)
}

// bytesAs is what a tensor takes as a type, in whole cache lines.
func bytesAs(t model.Tensor, as model.DType) int {
	const line = 64
	return (as.RowBytes(t.Elements()) + line - 1) / line * line
}
