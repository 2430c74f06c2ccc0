package gpuexec

import (
	"github.com/cbactor/cbactor/cuda"
	"github.com/cbactor/cbactor/cuda/kernels"
	"github.com/cbactor/cbactor/executor"
)

// remember tells the device of sequences that are admitted what it draws their tokens by: their ids, to which it
// adds what it draws, their biases and bans. No step that is not finished has their slots. The driver has
// read memory that is not pinned when a copy returns.
func (e *Executor) remember(admitted []executor.Admit) error {
	for i := range admitted {
		number := int(admitted[i].Slot)
		q := &e.slots[number]
		if !q.onDevice {
			continue
		}
		if q.sampling.Remembers() {
			if err := e.in.CopyIn(e.work.history+cuda.Pointer(4*number*e.config.MaxContext), bytesOf(q.ids)); err != nil {
				return err
			}
		}
		e.edits = kernels.Edits(e.edits[:0], &q.sampling)
		if len(e.edits) == 0 {
			continue
		}
		if err := e.in.CopyIn(e.work.edits+cuda.Pointer(4*number*kernels.EditInts), bytesOf(e.edits)); err != nil {
			return err
		}
	}
	return nil
}
