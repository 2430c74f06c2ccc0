package executor

import (
	"errors"
	"fmt"
	"sync/atomic"
)

// ErrContract is the class of every refused Batch: a bug of whoever made it.
var ErrContract = errors.New("executor: batch breaks the contract")

// ErrUnsupported is the class of what the contract has and no executor does yet.
var ErrUnsupported = errors.New("executor: not supported")

// Checker holds a caller to the contract. Every executor asks it in Start, so
// that a Batch refused by one is refused by all. It knows of a slot what can be
// known before a step runs: how many ids it has or will have, how far its rows
// and block tables reach, and which step names it last.
//
// Check belongs to Start's goroutine, Done to Finish's; Load and Drop, which say of
// which weight epochs a Batch may be, and LoadAdapter to any. Nothing is allocated
// unless a Batch is refused.
type Checker struct {
	info  Info
	step  uint64 // last step accepted
	epoch uint32 // of it

	epochs  epochs
	slots   []slotCheck
	staged  []slotCheck // what slots becomes if the Batch is accepted
	stamp   []uint64    // attempt that staged the slot
	touched []Slot      // slots staged by this attempt
	attempt uint64

	adapters    loaded
	done        atomic.Uint64 // last step finished
	outstanding atomic.Int32
	asleep      atomic.Bool
}

// slotCheck is what is known of one slot.
type slotCheck struct {
	open     bool
	parent   Slot
	adapter  string
	admitted uint64 // step that opened it
	rowStep  uint64 // step of its last row
	last     uint64 // last step that names it
	ids      int32  // ids it has, counting those that earlier steps will have sampled
	next     int32  // where its next row starts; -1: anywhere, no row yet
	tables   []span // per cache group
}

// span is the part of a block table that was set: indexes low to high-1.
type span struct{ low, high int32 }

// NewChecker makes a Checker for an executor that can do info, and has the weights of
// an epoch.
func NewChecker(info Info, epoch uint32) *Checker {
	c := &Checker{
		info:     info,
		epochs:   epochs{loaded: []uint32{epoch}, last: []uint64{0}},
		adapters: loaded{names: map[string]bool{}},
		slots:    make([]slotCheck, info.MaxSlots),
		staged:   make([]slotCheck, info.MaxSlots),
		stamp:    make([]uint64, info.MaxSlots),
		touched:  make([]Slot, 0, info.MaxSlots),
	}
	groups := len(info.Groups)
	spans := make([]span, 2*info.MaxSlots*groups)
	for i := range c.slots {
		at := 2 * i * groups
		c.slots[i].tables = spans[at : at+groups : at+groups]
		c.staged[i].tables = spans[at+groups : at+2*groups : at+2*groups]
	}
	return c
}

// Check accepts a Batch, which then counts as handed over until Done, or refuses
// it with an error of class ErrContract or ErrUnsupported and forgets it.
func (c *Checker) Check(b *Batch) error {
	if err := c.check(b); err != nil {
		return fmt.Errorf("step %d: %w", b.Step, err)
	}
	for _, s := range c.touched {
		c.staged[s].last = b.Step
		c.slots[s], c.staged[s] = c.staged[s], c.slots[s]
	}
	c.step, c.epoch = b.Step, b.Epoch
	c.outstanding.Add(1)
	return nil
}

// Done says that a step's Result was handed to the caller.
func (c *Checker) Done(step uint64) {
	c.done.Store(step)
	c.outstanding.Add(-1)
}

// Sleep says that the executor sleeps from now on, or is awake. It may not fall asleep
// with steps unfinished.
func (c *Checker) Sleep(asleep bool) error {
	if n := c.outstanding.Load(); asleep && n > 0 {
		return breach("%d steps are unfinished, finish them before it sleeps", n)
	}
	c.asleep.Store(asleep)
	return nil
}

// check goes through b in the order in which it is run, changing staged only.
func (c *Checker) check(b *Batch) error {
	c.attempt++
	c.touched = c.touched[:0]
	switch {
	case c.asleep.Load():
		return breach("the executor sleeps, wake it before")
	case b.Step <= c.step:
		return breach("the step before was %d, must ascend from 1", c.step)
	case b.Epoch < c.epoch:
		return breach("epoch %d follows epoch %d, must not descend", b.Epoch, c.epoch)
	case int(c.outstanding.Load()) >= c.info.MaxOutstanding:
		return breach("%d steps are unfinished, finish one before", c.info.MaxOutstanding)
	}
	for i := range b.Admit {
		if err := c.admit(&b.Admit[i], b.Step); err != nil {
			return fmt.Errorf("admit %d: %w", i, err)
		}
	}
	for i := range b.Tables {
		if err := c.table(&b.Tables[i]); err != nil {
			return fmt.Errorf("table %d: %w", i, err)
		}
	}
	for i := range b.Copies {
		if err := c.copy(&b.Copies[i]); err != nil {
			return fmt.Errorf("copy %d: %w", i, err)
		}
	}
	if err := c.rows(b); err != nil {
		return err
	}
	for i, s := range b.Retire {
		t, err := c.opened(s)
		if err != nil {
			return fmt.Errorf("retire %d: %w", i, err)
		}
		t.open = false
	}
	return c.name(b.Epoch, b.Step) // last: a batch that is refused keeps no epoch
}

// slot is the staged state of s.
func (c *Checker) slot(s Slot) (*slotCheck, error) {
	if s < 0 || int(s) >= len(c.slots) {
		return nil, breach("slot %d, must be from 0 to %d", s, len(c.slots)-1)
	}
	t := &c.staged[s]
	if c.stamp[s] != c.attempt {
		c.stamp[s] = c.attempt
		c.touched = append(c.touched, s)
		tables := t.tables
		copy(tables, c.slots[s].tables)
		*t = c.slots[s]
		t.tables = tables
	}
	return t, nil
}

// opened is slot for a slot that must be open.
func (c *Checker) opened(s Slot) (*slotCheck, error) {
	t, err := c.slot(s)
	if err == nil && !t.open {
		return nil, breach("slot %d is not open, admit it before", s)
	}
	return t, err
}

func breach(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrContract, fmt.Sprintf(format, args...))
}
