package executor

import "fmt"

// admit opens a slot. Its number must be free, and so must be every step that
// named it: the state of a step handed over is still in use.
func (c *Checker) admit(a *Admit, step uint64) error {
	t, err := c.slot(a.Slot)
	if err != nil {
		return err
	}
	switch {
	case t.open:
		return breach("slot %d is open, retire it before", a.Slot)
	case t.last > c.done.Load():
		return breach("slot %d is named by step %d, which is not finished", a.Slot, t.last)
	case len(a.IDs) == 0 || len(a.IDs) > c.info.MaxContext:
		return breach("slot %d has %d ids, must be from 1 to %d", a.Slot, len(a.IDs), c.info.MaxContext)
	case a.PromptLen < 1 || int(a.PromptLen) > len(a.IDs):
		return breach("slot %d has prompt length %d, must be from 1 to %d", a.Slot, a.PromptLen, len(a.IDs))
	case a.Child < 0:
		return breach("slot %d has child %d, must be 0 or more", a.Slot, a.Child)
	case a.Parent < NoSlot || int(a.Parent) >= len(c.slots) || a.Parent == a.Slot:
		return breach("slot %d has parent %d, must be another slot or NoSlot", a.Slot, a.Parent)
	}
	if err := c.adapter(a); err != nil {
		return err
	}
	if err := a.Sampling.CheckVocab(c.info.Vocab); err != nil {
		return fmt.Errorf("%w: slot %d: %w", ErrContract, a.Slot, err)
	}
	for i, id := range a.IDs {
		if id < 0 || int(id) >= c.info.Vocab {
			return breach("slot %d has id %d at position %d, must be from 0 to %d", a.Slot, id, i, c.info.Vocab-1)
		}
	}
	clear(t.tables)
	*t = slotCheck{open: true, parent: a.Parent, adapter: a.Adapter, admitted: step, ids: int32(len(a.IDs)), next: -1, tables: t.tables}
	return nil
}

// table replaces the entries from Index to Index+len(Blocks)-1 and leaves the
// others. A table has no holes; one of a group with a window may begin late.
func (c *Checker) table(d *Table) error {
	t, err := c.opened(d.Slot)
	if err != nil {
		return err
	}
	if d.Group < 0 || int(d.Group) >= len(c.info.Groups) {
		return breach("group %d, must be from 0 to %d", d.Group, len(c.info.Groups)-1)
	}
	group, s := c.info.Groups[d.Group], &t.tables[d.Group]
	if group.Window > 0 && s.high == 0 {
		*s = span{d.Index, d.Index}
	}
	if d.Index < s.low || d.Index > s.high {
		return breach("slot %d group %d: index %d, must be from %d to %d", d.Slot, d.Group, d.Index, s.low, s.high)
	}
	if most := c.pages(c.info.MaxContext); d.Index < 0 || len(d.Blocks) > most-int(d.Index) {
		return breach("slot %d group %d: %d blocks from index %d, must end at %d", d.Slot, d.Group, len(d.Blocks), d.Index, most)
	}
	for _, id := range d.Blocks {
		if id < 0 || int(id) >= group.Blocks {
			return breach("slot %d group %d: block %d, must be from 0 to %d", d.Slot, d.Group, id, group.Blocks-1)
		}
	}
	s.high = max(s.high, d.Index+int32(len(d.Blocks)))
	return nil
}

// copy checks that both ends are there. What they hold is not known here.
func (c *Checker) copy(p *Copy) error {
	if p.Group < 0 || int(p.Group) >= len(c.info.Groups) {
		return breach("group %d, must be from 0 to %d", p.Group, len(c.info.Groups)-1)
	}
	group := c.info.Groups[p.Group]
	from, to := group.Blocks, group.Blocks
	switch p.Kind {
	case CopyFork:
		if p.From == p.To {
			return breach("block %d is copied to itself", p.From)
		}
	case CopyOut:
		to = group.Host
	case CopyIn:
		from = group.Host
	default:
		return breach("kind %d, must be CopyFork, CopyOut or CopyIn", p.Kind)
	}
	switch {
	case p.Kind != CopyFork && group.Host == 0:
		return fmt.Errorf("%w: group %d has no host pool", ErrUnsupported, p.Group)
	case p.From < 0 || int(p.From) >= from:
		return breach("from block %d, must be from 0 to %d", p.From, from-1)
	case p.To < 0 || int(p.To) >= to:
		return breach("to block %d, must be from 0 to %d", p.To, to-1)
	}
	return nil
}

// pages is the number of blocks that n tokens take.
func (c *Checker) pages(n int) int { return (n + c.info.PageSize - 1) / c.info.PageSize }
