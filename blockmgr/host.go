package blockmgr

import "fmt"

// Host is the ledger of the host pool: which of its blocks hold the cache of which
// preempted sequence. Like Manager it moves no bytes, belongs to one goroutine and
// has no clock, log or IO.
type Host struct {
	free [][]int32           // per group, a stack
	held map[uint64][]hosted // per sequence and group
}

// hosted is host blocks in the order of a table, of which index is the first.
type hosted struct {
	index  int32
	blocks []int32
}

// Swap is what the scheduler asks of the ledger, applied in this order: Drop, Out, In.
type Swap struct {
	Drop []uint64 // sequences that ended: their blocks are free
	Out  []Moved  // cache that leaves the device
	In   []Moved  // cache that comes back
}

// Moved is the cache of one sequence: its device blocks, with their index in the
// tables. When it comes back a table may begin later than when it left, since its
// window has moved on, and reach further.
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
	h := &Host{held: map[uint64][]hosted{}}
	for _, n := range blocks {
		free := make([]int32, n)
		for i := range free {
			free[i] = int32(n - 1 - i)
		}
		h.free = append(h.free, free)
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
		if err := h.in(m, out); err != nil {
			return err
		}
	}
	return nil
}

// in brings back what the tables still reach.
func (h *Host) in(m Moved, out *Swapped) error {
	held := h.held[m.Key]
	if held == nil {
		return fmt.Errorf("%w: sequence %d is not in the host pool", ErrProtocol, m.Key)
	}
	for _, a := range m.Blocks {
		left := held[a.Group]
		if len(left.blocks) == 0 {
			continue
		}
		behind := int(a.Index - left.index) // blocks that are behind the window now
		if behind < 0 || len(a.Blocks) < len(left.blocks)-behind {
			return fmt.Errorf("%w: sequence %d comes back to %d blocks from %d on, and left with %d from %d on", ErrProtocol, m.Key, len(a.Blocks), a.Index, len(left.blocks), left.index)
		}
		for i := behind; i < len(left.blocks); i++ {
			out.Copies = append(out.Copies, HostCopy{Group: a.Group, Device: a.Blocks[i-behind], Host: left.blocks[i]})
		}
	}
	return h.drop(m.Key)
}

func (h *Host) out(m Moved, out *Swapped) error {
	if h.held[m.Key] != nil {
		return fmt.Errorf("%w: sequence %d is in the host pool already", ErrProtocol, m.Key)
	}
	held := make([]hosted, len(h.free))
	for _, a := range m.Blocks {
		free := h.free[a.Group]
		if len(free) < len(a.Blocks) {
			return fmt.Errorf("%w: %d blocks go to a host pool with %d free", ErrProtocol, len(a.Blocks), len(free))
		}
		held[a.Group].index = a.Index
		for _, device := range a.Blocks {
			host := free[len(free)-1]
			free = free[:len(free)-1]
			held[a.Group].blocks = append(held[a.Group].blocks, host)
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
	for g := range held {
		h.free[g] = append(h.free[g], held[g].blocks...)
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
