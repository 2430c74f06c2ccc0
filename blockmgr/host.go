package blockmgr

import "fmt"

// Host is the ledger of the host pool: which of its blocks hold the cache of which
// preempted sequence. Like Manager it moves no bytes, belongs to one goroutine and
// has no clock, log or IO.
type Host struct {
	free [][]int32            // per group, a stack
	held map[uint64][][]int32 // per sequence and group, in the order of its table
}

// Swap is what the scheduler asks of the ledger, applied in this order: Drop, Out, In.
type Swap struct {
	Drop []uint64 // sequences that ended: their blocks are free
	Out  []Moved  // cache that leaves the device
	In   []Moved  // cache that comes back
}

// Moved is the cache of one sequence: its device blocks, per group from the first
// position on.
type Moved struct {
	Key    uint64
	Blocks []Added
}

// Swapped lists the copies to make, in order, those out before those in. It is
// valid until the next call.
type Swapped struct{ Copies []HostCopy }

// HostCopy copies one block between device and host.
type HostCopy struct {
	Out          bool // from device to host
	Group        int32
	Device, Host int32
}

// NewHost makes an empty pool with blocks per group.
func NewHost(blocks []int) *Host {
	h := &Host{held: map[uint64][][]int32{}}
	for _, n := range blocks {
		h.free = append(h.free, newPool(n).free)
	}
	return h
}

// Swap applies one request and fills out.
func (h *Host) Swap(r *Swap, out *Swapped) error {
	out.Copies = out.Copies[:0]
	for _, key := range r.Drop {
		if err := h.drop(key); err != nil {
			return err
		}
	}
	for _, m := range r.Out {
		if err := h.out(m, out); err != nil {
			return err
		}
	}
	for _, m := range r.In {
		held := h.held[m.Key]
		for _, a := range m.Blocks {
			if held == nil || len(a.Blocks) < len(held[a.Group]) {
				return fmt.Errorf("%w: sequence %d comes back to %d blocks, which is not what it left", ErrProtocol, m.Key, len(a.Blocks))
			}
			for i, host := range held[a.Group] {
				out.Copies = append(out.Copies, HostCopy{Group: a.Group, Device: a.Blocks[i], Host: host})
			}
		}
		if err := h.drop(m.Key); err != nil {
			return err
		}
	}
	return nil
}

func (h *Host) out(m Moved, out *Swapped) error {
	if h.held[m.Key] != nil {
		return fmt.Errorf("%w: sequence %d is in the host pool already", ErrProtocol, m.Key)
	}
	held := make([][]int32, len(h.free))
	for _, a := range m.Blocks {
		free := h.free[a.Group]
		if len(free) < len(a.Blocks) {
			return fmt.Errorf("%w: %d blocks go to a host pool with %d free", ErrProtocol, len(a.Blocks), len(free))
		}
		for _, device := range a.Blocks {
			host := free[len(free)-1]
			free = free[:len(free)-1]
			held[a.Group] = append(held[a.Group], host)
			out.Copies = append(out.Copies, HostCopy{Out: true, Group: a.Group, Device: device, Host: host})
		}
		h.free[a.Group] = free
	}
	h.held[m.Key] = held
	return nil
}

func (h *Host) drop(key uint64) error {
	held, ok := h.held[key]
	if !ok {
		return fmt.Errorf("%w: sequence %d is not in the host pool", ErrProtocol, key)
	}
	for g, blocks := range held {
		h.free[g] = append(h.free[g], blocks...)
	}
	delete(h.held, key)
	return nil
}

// Free is the number of free blocks of the scarcest group.
func (h *Host) Free() int {
	n := len(h.free[0])
	for _, f := range h.free[1:] {
		n = min(n, len(f))
	}
	return n
}
