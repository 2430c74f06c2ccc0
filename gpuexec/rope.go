package gpuexec

import (
	"math"

	"github.com/cbactor/cbactor/model"
)

// turn copies the angles of all positions to the device: of each, cosines, then sines. Their product
// with a frequency is rounded to float32, as the reference implementation does: far out that is part of its
// answers.
func (e *Executor) turn() error {
	half := e.dims.rotary / 2
	for kind := range e.dims.ropes() {
		inv, scale := e.config.Model.InvFreq(model.Attention(kind))
		table := make([]float32, 2*half*e.config.MaxContext)
		for pos := range e.config.MaxContext {
			row := table[2*half*pos:][:2*half]
			for i, f := range inv {
				y, x := math.Sincos(float64(float32(pos) * float32(f)))
				row[i], row[half+i] = float32(x*scale), float32(y*scale)
			}
		}
		if err := e.compute.CopyIn(e.work.rope[kind], bytesOf(table)); err != nil {
			return err
		}
	}
	return e.compute.Synchronize()
}
