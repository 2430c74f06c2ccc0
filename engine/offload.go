package engine

import (
	"errors"
	"fmt"

	"github.com/cbactor/cbactor/cpuexec"
)

const gib = 1 << 30

// sizeOffload adds the host pool to a plan that has all else: as many whole blocks
// as cpu_offload_space has room for.
func (r *Resolved) sizeOffload() error {
	c, m := &r.Config, &r.Memory
	bytes, err := r.offloadBytes()
	if err != nil || bytes == 0 {
		c.CPUOffloadSpace = 0
		return err
	}
	r.cpu.HostBlocks = int(bytes / m.Executor.BlockBytes)
	if m.Executor, err = cpuexec.Plan(r.cpu); err != nil {
		if errors.Is(err, ErrMemory) {
			return fmt.Errorf("cpu_offload_space is %s: %w", formatFloat(c.CPUOffloadSpace), err)
		}
		return err
	}
	c.CPUOffloadSpace = float64(m.Executor.Host) / gib
	if r.cpu.HostBlocks == 0 {
		r.notice("cpu_offload_space is less than a block of %d bytes: there is no host pool", m.Executor.BlockBytes)
	}
	return nil
}

// offloadBytes is how large the host pool may be: what is asked for, or all, within
// the threshold's share of what is left. A threshold of 1 lifts the cap on what is
// asked for.
func (r *Resolved) offloadBytes() (int64, error) {
	c, m := &r.Config, &r.Memory
	threshold, left := *c.CPUOffloadSpaceSafetyThreshold, max(0, m.Limit-m.Resident-m.Total())
	share := int64(threshold * float64(left))
	asked := int64(c.CPUOffloadSpace * gib)
	because := fmt.Sprintf("cpu_offload_space_safety_threshold %s of %d bytes left", formatFloat(threshold), left)
	switch {
	case c.CPUOffloadSpace == 0:
		return 0, nil
	case m.Limit == 0 && c.CPUOffloadSpace == OffloadAuto:
		return 0, fmt.Errorf("%w: cpu_offload_space is none, and the memory of this system is not known: give a number", ErrConfig)
	case c.CPUOffloadSpace == OffloadAuto:
		r.from["cpu_offload_space"] = r.given["cpu_offload_space"] + " says none; " + because
		return share, nil
	case m.Limit > 0 && threshold < 1 && asked > share:
		r.from["cpu_offload_space"] = because
		r.notice("cpu_offload_space is %s GiB (%s), lowered to %d bytes: %s", formatFloat(c.CPUOffloadSpace), r.given["cpu_offload_space"], share, because)
		return share, nil
	}
	return asked, nil
}
