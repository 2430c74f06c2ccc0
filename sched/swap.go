package sched

import (
	"fmt"

	"github.com/cbactor/cbactor/blockmgr"
	"github.com/cbactor/cbactor/executor"
)

// Swap is what to ask of the host ledger now, nil: nothing. Call it after every
// event, before Plan. The ledger answers when something moves; until then nothing
// else is planned.
func (s *Scheduler) Swap() *blockmgr.Swap {
	s.renew()
	if len(s.swap.Drop)+len(s.swap.Out)+len(s.swap.In) == 0 {
		return nil
	}
	r := s.swap
	s.swap = new(blockmgr.Swap)
	return r
}

// Swapped takes the ledger's answer and returns the batch that waited for it.
func (s *Scheduler) Swapped(m *blockmgr.Swapped) (*executor.Batch, error) {
	b := s.held
	if b == nil {
		return nil, fmt.Errorf("%w: %d copies that no batch waits for", ErrProtocol, len(m.Copies))
	}
	s.held = nil
	forks := len(b.Copies)
	for _, c := range m.Copies {
		e := executor.Copy{Kind: executor.CopyIn, Group: c.Group, From: c.Host, To: c.Device}
		if c.Out {
			e = executor.Copy{Kind: executor.CopyOut, Group: c.Group, From: c.Device, To: c.Host}
		}
		b.Copies = append(b.Copies, e)
	}
	// What leaves must have left before a fork is copied to where it was.
	b.Copies = append(b.Copies, b.Copies[:forks]...)
	b.Copies = append(b.Copies[:0], b.Copies[forks:]...)
	return s.handOver(b), nil
}

// leaveForHost notes that a victim's cache goes to the host pool.
func (s *Scheduler) leaveForHost(q *seq, blocks []blockmgr.Added) {
	q.hosted = q.blocks
	s.host -= int(q.hosted)
	s.swap.Out = append(s.swap.Out, moved(q, blocks))
}

// dropHosted notes that a sequence's cache in the host pool is not needed any more.
func (s *Scheduler) dropHosted(q *seq) {
	s.host += int(q.hosted)
	s.swap.Drop = append(s.swap.Drop, uint64(q.key))
	q.hosted = 0
}

// comeBack notes that a sequence's cache comes from the host pool.
func (s *Scheduler) comeBack(q *seq, blocks []blockmgr.Added) {
	s.host += int(q.hosted)
	q.hosted = 0
	s.swap.In = append(s.swap.In, moved(q, blocks))
}

// moved copies the list: it outlives the answer that it came with.
func moved(q *seq, blocks []blockmgr.Added) blockmgr.Moved {
	m := blockmgr.Moved{Key: uint64(q.key)}
	for _, a := range blocks {
		m.Blocks = append(m.Blocks, blockmgr.Added{Group: a.Group, Index: a.Index, Blocks: append([]int32(nil), a.Blocks...)})
	}
	return m
}
