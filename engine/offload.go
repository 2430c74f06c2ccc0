package engine

import (
	"errors"
	"fmt"
	"math"
)

const gib = 1 << 30

// sizeOffload adds the host pool to a plan that has all else: as many whole blocks
// as cpu_offload_space has room for.
func (r *Resolved) sizeOffload() error {
	c, m := &r.Config, &r.Memory
	r.hostAsked = c.CPUOffloadSpace != 0
	bytes, err := r.offloadBytes()
	if err != nil || bytes == 0 {
		c.CPUOffloadSpace = 0
		return err
	}
	r.sizes.host = int(bytes / r.pool.BlockBytes)
	if err := r.plan(); err != nil {
		if errors.Is(err, ErrMemory) {
			return fmt.Errorf("%w: cpu_offload_space is %s GiB (%s), %s are left of the limit of %s beside all else: use less",
				ErrMemory, formatFloat(c.CPUOffloadSpace), r.given["cpu_offload_space"], inGiB(m.Limit-m.Resident-m.Total()), inGiB(m.Limit))
		}
		return err
	}
	switch {
	case r.sizes.host > 0 && bytes != int64(c.CPUOffloadSpace*gib): // auto, or lowered
		c.CPUOffloadSpace = math.Floor(float64(m.Executor.Host+m.Device.Executor.Host)/gib*1000) / 1000
	case r.sizes.host == 0:
		c.CPUOffloadSpace = 0
		r.notice("the host pool (%s) would be less than a block of %d bytes: there is none", r.from["cpu_offload_space"], r.pool.BlockBytes)
	}
	return nil
}

// inGiB is a number of bytes as cpu_offload_space has it.
func inGiB(bytes int64) string { return fmt.Sprintf("%.3f GiB", float64(bytes)/gib) }

// offloadBytes is how large the host pool may be: what is asked for, or all, within
// the threshold's share of what is left. A threshold of 1 lifts the cap on what is
// asked for.
func (r *Resolved) offloadBytes() (int64, error) {
	c, m := &r.Config, &r.Memory
	threshold, left := *c.CPUOffloadSpaceSafetyThreshold, max(0, m.Limit-m.Resident-m.Total())
	share := int64(threshold * float64(left))
	asked := int64(c.CPUOffloadSpace * gib)
	because := fmt.Sprintf("cpu_offload_space_safety_threshold %s of the %s left", formatFloat(threshold), inGiB(left))
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
		r.notice("cpu_offload_space is %s GiB (%s), lowered to %s: %s", formatFloat(c.CPUOffloadSpace), r.given["cpu_offload_space"], inGiB(share), because)
		return share, nil
	}
	return asked, nil
}
