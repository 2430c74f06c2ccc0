package suite

import (
	"fmt"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/sampling"
)

// testSwap copies a sequence's blocks to the host in the middle of its prompt, at
// the end of a block, and while it decodes; lets others overwrite the blocks, the
// first of them in the very same batch; and goes on in another slot over other
// blocks. Where the executor has two steps out, the last row is one of them.
func testSwap(t *testing.T, newExecutor Make) {
	d := newSwapDriver(t, newExecutor)
	r, others := swapped(d.info, 21)[0], prompts(d.info, 30, 31, 29)
	want := d.run([]request{r}, alone)
	tokens(t, want) // none has failed
	for _, steps := range []int{2, 4, 5, 8} {
		p := d.newPlan()
		s := d.admit(&p.batch, &r)
		for range steps {
			d.addRows(p, 5)
			d.startNext(p)
			p = d.newPlan()
		}
		blocks := s.tables
		host := d.swapOut(p, s)
		d.admit(&p.batch, &others[0])
		d.addRows(p, 20)
		d.startNext(p)
		d.run(others[1:], policy{chunk: 9, together: 3, ahead: d.info.MaxOutstanding})

		p = d.newPlan()
		back := d.swapIn(p, s, host)
		p = d.behindCopies(p)
		for g, table := range back.tables {
			if back.slot == s.slot || slices.ContainsFunc(present(table), func(b int32) bool { return slices.Contains(blocks[g], b) }) {
				t.Fatalf("back in slot %d and blocks %v, as before: nothing is shown", back.slot, table)
			}
		}
		d.addRows(p, 5)
		d.startNext(p)
		d.run(nil, policy{chunk: 5, ahead: d.info.MaxOutstanding})
		sameRun(t, fmt.Sprintf("swapped after %d steps", steps), back, want[0])
	}
}

// testExchange lets two sequences take each other's place within one batch: over
// the same device blocks, which takes the Out before the In, and over the same
// blocks of the host pool, which takes the In before the Out. An executor whose copies
// overlap promises no such order.
func testExchange(t *testing.T, newExecutor Make) {
	d := newSwapDriver(t, newExecutor)
	if d.info.Overlap {
		t.Skip("this executor copies in beside its rows")
	}
	requests := swapped(d.info, 14, 13)
	want := d.run(requests, alone)
	tokens(t, want)
	step := func(make func(p *plan)) {
		p := d.newPlan()
		make(p)
		d.addRows(p, 32)
		d.start(p)
		d.finish()
	}
	var x, y *sequence
	var hostX, hostY [][]int32
	step(func(p *plan) { x, y = d.admit(&p.batch, &requests[0]), d.admit(&p.batch, &requests[1]) })
	step(func(p *plan) { hostX = d.swapOut(p, x) })
	step(func(p *plan) {
		hostY = d.swapOut(p, y)
		x = d.swapIn(p, x, hostX) // over y's blocks
	})
	step(func(p *plan) {
		y = d.swapIn(p, y, hostY)
		hostX = d.swapOut(p, x) // over y's host blocks
	})
	step(func(p *plan) { x = d.swapIn(p, x, hostX) })
	d.run(nil, policy{chunk: 1, ahead: 1})
	sameRun(t, "first of two", x, want[0])
	sameRun(t, "second of two", y, want[1])
}

// swapped are requests long enough to be disturbed, the first of them sampled.
func swapped(info executor.Info, lengths ...int) []request {
	requests := prompts(info, lengths...)
	for i := range requests {
		requests[i].n = 12
	}
	requests[0].sampling, requests[0].seed = sampling.Params{Temperature: 1.5}, 3
	return requests
}

// sameRun compares tokens and, where the executor shows them, logits to the bit.
func sameRun(t *testing.T, what string, got, want *sequence) {
	t.Helper()
	same(t, what, tokens(t, []*sequence{got}), [][]int32{want.out})
	if len(got.logits) != len(want.logits) {
		t.Fatalf("%s: logits of %d rows, want %d", what, len(got.logits), len(want.logits))
	}
	for i := range want.logits {
		if !slices.Equal(got.logits[i], want.logits[i]) {
			t.Errorf("%s: other logits before token %d", what, i)
		}
	}
}

// hostBreaches are copies whose end in the host pool, or beside it, is not there.
func hostBreaches(info executor.Info) []breach {
	blocks, host := int32(info.Groups[0].Blocks), int32(info.Groups[0].Host)
	if host == 0 {
		return nil
	}
	copies := func(c executor.Copy) func(b *executor.Batch) {
		return func(b *executor.Batch) { b.Copies = append(b.Copies, c) }
	}
	return []breach{
		{"copy out to nowhere", copies(executor.Copy{Kind: executor.CopyOut, To: host})},
		{"copy out from nowhere", copies(executor.Copy{Kind: executor.CopyOut, From: blocks})},
		{"copy in to nowhere", copies(executor.Copy{Kind: executor.CopyIn, To: blocks})},
		{"copy in from nowhere", copies(executor.Copy{Kind: executor.CopyIn, From: host})},
		{"copy in from before the pool", copies(executor.Copy{Kind: executor.CopyIn, From: -1})},
		{"copy of no kind", copies(executor.Copy{Kind: executor.CopyIn + 1, To: 1})},
	}
}
