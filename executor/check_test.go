package executor_test

import (
	"errors"
	"testing"

	"github.com/cbactor/cbactor/executor"
)

var checked = executor.Info{
	PageSize: 4, Groups: []executor.Group{{Blocks: 10, Host: 6}, {Blocks: 10, Window: 6}},
	MaxSlots: 4, MaxTokens: 16, MaxContext: 20, Vocab: 100, MaxOutstanding: 2,
}

// checkRun gives batches to a Checker. Steps are numbered by it.
type checkRun struct {
	*executor.Checker
	t    *testing.T
	step uint64
}

func newCheckRun(t *testing.T) *checkRun {
	return &checkRun{Checker: executor.NewChecker(checked, 1), t: t}
}

func (c *checkRun) start(b executor.Batch) error {
	c.step++
	b.Step, b.Epoch = c.step, max(b.Epoch, 1)
	return c.Check(&b)
}

// good starts a batch that must be accepted, and finishes it.
func (c *checkRun) good(b executor.Batch) {
	c.t.Helper()
	if err := c.start(b); err != nil {
		c.t.Fatal(err)
	}
	c.Done(c.step)
}

// bad starts a batch that must be refused.
func (c *checkRun) bad(b executor.Batch, class error) {
	c.t.Helper()
	if err := c.start(b); !errors.Is(err, class) {
		c.t.Errorf("%v, want %v", err, class)
	}
}

// tables gives slot n blocks from index on, in both groups.
func tables(slot executor.Slot, from int32, n int) []executor.Table {
	blocks := make([]int32, n)
	return []executor.Table{{Slot: slot, Index: from, Blocks: blocks}, {Slot: slot, Group: 1, Index: from, Blocks: blocks}}
}

// A slot's number is free when the last step that names it is finished.
func TestCheckSlotReuse(t *testing.T) {
	c := newCheckRun(t)
	c.good(executor.Batch{Admit: []executor.Admit{admit(0, 1, 2)}, Tables: tables(0, 0, 1)})
	if err := c.start(executor.Batch{Rows: []executor.Row{row(0, 0, 2, true)}, Retire: []executor.Slot{0}}); err != nil {
		t.Fatal(err)
	}
	retired := c.step
	again := executor.Batch{Admit: []executor.Admit{admit(0, 3)}}
	c.bad(again, executor.ErrContract)
	c.Done(retired)
	c.good(again)
	c.bad(executor.Batch{Rows: []executor.Row{row(0, 0, 1, true)}}, executor.ErrContract) // its table is gone
}

// A refused batch leaves nothing behind: the same slots, in a right batch, are accepted.
func TestCheckForgetsRefused(t *testing.T) {
	c := newCheckRun(t)
	b := executor.Batch{Admit: []executor.Admit{admit(0, 1, 2)}, Tables: tables(0, 0, 1), Rows: []executor.Row{row(0, 1, 1, true)}}
	wrong := b
	wrong.Rows = append(wrong.Rows[:1:1], row(1, 0, 1, true))
	c.bad(wrong, executor.ErrContract)
	c.good(b)
	c.good(executor.Batch{Rows: []executor.Row{row(0, 2, 1, true)}})
}

// With two steps out, a row may use the token that the first will have sampled.
func TestCheckPromisedToken(t *testing.T) {
	c := newCheckRun(t)
	b := executor.Batch{Admit: []executor.Admit{admit(0, 1, 2)}, Tables: tables(0, 0, 1), Rows: []executor.Row{row(0, 0, 2, true)}}
	if err := c.start(b); err != nil {
		t.Fatal(err)
	}
	c.bad(executor.Batch{Rows: []executor.Row{row(0, 2, 2, true)}}, executor.ErrContract)
	if err := c.start(executor.Batch{Rows: []executor.Row{row(0, 2, 1, true)}}); err != nil {
		t.Error(err)
	}
	c.bad(executor.Batch{}, executor.ErrContract) // a third step
}

// A table's entry may be replaced; those behind it stay.
func TestCheckTableEntry(t *testing.T) {
	c := newCheckRun(t)
	c.good(executor.Batch{Admit: []executor.Admit{admit(0, make([]int32, 12)...)}, Tables: tables(0, 0, 3)})
	c.good(executor.Batch{Tables: tables(0, 1, 1), Rows: []executor.Row{row(0, 0, 12, true)}})
}

func TestCheckTokensOfAllRows(t *testing.T) {
	both := func(count int32) executor.Batch {
		return executor.Batch{
			Admit:  []executor.Admit{admit(0, make([]int32, 12)...), admit(1, make([]int32, 12)...)},
			Tables: append(tables(0, 0, 3), tables(1, 0, 3)...),
			Rows:   []executor.Row{row(0, 0, count, false), row(1, 0, count, false)},
		}
	}
	newCheckRun(t).good(both(8))
	newCheckRun(t).bad(both(9), executor.ErrContract)
}

// A sequence has MaxContext tokens, the last of which is never computed.
func TestCheckContext(t *testing.T) {
	c := newCheckRun(t)
	ids := make([]int32, 19)
	c.good(executor.Batch{Admit: []executor.Admit{admit(0, ids...)}, Tables: tables(0, 0, 5), Rows: []executor.Row{row(0, 4, 15, true)}})
	c.bad(executor.Batch{Rows: []executor.Row{row(0, 19, 1, true)}}, executor.ErrContract)
	c.good(executor.Batch{Rows: []executor.Row{row(0, 19, 1, false)}})
	c.bad(executor.Batch{Tables: tables(0, 5, 1)}, executor.ErrContract)
}

// A prompt that is only scored may fill the context: no row of it samples, and it
// is retired behind its last id.
func TestCheckScoredPrompt(t *testing.T) {
	c := newCheckRun(t)
	first, last := row(0, 0, 16, false), row(0, 16, 4, false)
	first.PromptLogprobs, last.PromptLogprobs = true, true
	scored := executor.Batch{Admit: []executor.Admit{admit(0, make([]int32, 20)...)}, Tables: tables(0, 0, 5), Rows: []executor.Row{first}}
	for range 2 {
		c.good(scored)
		c.good(executor.Batch{Rows: []executor.Row{last}, Retire: []executor.Slot{0}})
	}
}

// A group with a window needs the blocks of the window only.
func TestCheckWindow(t *testing.T) {
	full := func(slot executor.Slot) executor.Table { return executor.Table{Slot: slot, Blocks: make([]int32, 4)} }
	window := func(slot executor.Slot, from int32) executor.Table {
		return executor.Table{Slot: slot, Group: 1, Index: from, Blocks: make([]int32, 4-from)}
	}
	ids := make([]int32, 14)
	// Position 13 looks back to position 8, the first of block 2.
	for from, want := range []error{nil, nil, nil, executor.ErrContract} {
		c := newCheckRun(t)
		err := c.start(executor.Batch{
			Admit: []executor.Admit{admit(0, ids...)}, Tables: []executor.Table{full(0), window(0, int32(from))},
			Rows: []executor.Row{row(0, 13, 1, true)},
		})
		if !errors.Is(err, want) {
			t.Errorf("window from block %d: %v, want %v", from, err, want)
		}
	}
}

func TestCheckUnsupported(t *testing.T) {
	masked, adapter := row(0, 0, 1, true), admit(0, 1)
	masked.Mask, adapter.Adapter = 0, "a"
	for _, b := range []executor.Batch{
		{Admit: []executor.Admit{admit(0, 1)}, Masks: make([][]uint64, 1), Rows: []executor.Row{masked}},
		{Admit: []executor.Admit{adapter}},
		{Copies: []executor.Copy{{Kind: executor.CopyOut, Group: 1, To: 1}}}, // no host pool
		{Copies: []executor.Copy{{Kind: executor.CopyIn, Group: 1, To: 1}}},
	} {
		newCheckRun(t).bad(b, executor.ErrUnsupported)
	}
}

// A row of count 0 belongs to a fork, in the step of its parent's last chunk.
func TestCheckFork(t *testing.T) {
	child := admit(1, 1, 2)
	child.Parent = 0
	forked := executor.Batch{
		Admit: []executor.Admit{admit(0, 1, 2), child}, Tables: append(tables(0, 0, 1), tables(1, 0, 1)...),
		Rows: []executor.Row{row(1, 2, 0, true), row(0, 0, 2, true)}, // in any order
	}
	good := newCheckRun(t)
	good.good(forked)
	good.bad(executor.Batch{Rows: []executor.Row{row(1, 3, 0, true)}}, executor.ErrContract)
	good.good(executor.Batch{Rows: []executor.Row{row(0, 2, 1, true), row(1, 2, 1, true)}})

	late := newCheckRun(t)
	late.good(executor.Batch{Admit: forked.Admit, Tables: forked.Tables})
	late.bad(executor.Batch{Rows: forked.Rows}, executor.ErrContract)

	grandchild := admit(2, 1, 2)
	grandchild.Parent = 1
	newCheckRun(t).bad(executor.Batch{
		Admit: append(forked.Admit[:2:2], grandchild), Tables: forked.Tables,
		Rows: append(forked.Rows[:2:2], row(2, 2, 0, true)),
	}, executor.ErrContract)

	for name, change := range map[string]func(b *executor.Batch){
		"no parent row":        func(b *executor.Batch) { b.Rows = b.Rows[:1] },
		"parent row too short": func(b *executor.Batch) { b.Rows[1] = row(0, 0, 1, false) },
		"scores":               func(b *executor.Batch) { b.Rows[0].PromptLogprobs = true },
		"does not sample":      func(b *executor.Batch) { b.Rows[0].Sample = false },
		"not after its ids":    func(b *executor.Batch) { b.Rows[0].Start = 1 },
		"no parent":            func(b *executor.Batch) { b.Admit[1].Parent = executor.NoSlot },
		"parent not open":      func(b *executor.Batch) { b.Admit[1].Parent = 2 },
	} {
		b := forked
		b.Admit, b.Rows = append([]executor.Admit(nil), forked.Admit...), append([]executor.Row(nil), forked.Rows...)
		change(&b)
		if err := newCheckRun(t).start(b); !errors.Is(err, executor.ErrContract) {
			t.Errorf("%s: %v, want ErrContract", name, err)
		}
	}
}
