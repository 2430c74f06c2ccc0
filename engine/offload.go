package engine

import "fmt"

const gib = 1 << 30

// sizeOffload decides the host pool beside all else that the engine takes: what is
// asked for, or all, within the threshold's share of what is left. A threshold of 1
// lifts the cap on what is asked for.
func (r *Resolved) sizeOffload() error {
	c, m := &r.Config, &r.Memory
	if c.CPUOffloadSpace == 0 {
		return nil
	}
	threshold, left := *c.CPUOffloadSpaceSafetyThreshold, max(0, m.Limit-m.Resident-m.Total())
	share := int64(threshold * float64(left))
	asked := int64(c.CPUOffloadSpace * gib)
	because := fmt.Sprintf("cpu_offload_space_safety_threshold %s of %d bytes left", formatFloat(threshold), left)
	switch {
	case m.Limit == 0 && c.CPUOffloadSpace == OffloadAuto:
		return fmt.Errorf("%w: cpu_offload_space is none, and the memory of this system is not known: give a number", ErrConfig)
	case c.CPUOffloadSpace == OffloadAuto:
		m.Offload, r.from["cpu_offload_space"] = share, because
	case m.Limit > 0 && threshold < 1 && asked > share:
		m.Offload, r.from["cpu_offload_space"] = share, because
		r.notice("cpu_offload_space is %s GiB, lowered to %d bytes: %s", formatFloat(c.CPUOffloadSpace), share, because)
	default:
		m.Offload = asked
	}
	c.CPUOffloadSpace = float64(m.Offload) / gib
	return nil
}
