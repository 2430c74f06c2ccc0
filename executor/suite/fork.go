package suite

import (
	"errors"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/sampling"
)

// testFork forks two children in the step of their parent's last prompt chunk.
// All three must give what they give as ordinary requests.
func testFork(t *testing.T, newExecutor Make) {
	for _, promptLen := range []int{6, 8} { // with and without a tail to copy
		d := newDriver(t, open(t, newExecutor, small))
		requests := siblings(d.info, promptLen)
		want := tokens(t, d.run(requests, alone))
		same(t, "forked", forkAll(d, requests), want)
	}
}

// testForkBehindWindow forks a parent the beginning of whose prompt lies behind a window, in
// blocks that are others' by then.
func testForkBehindWindow(t *testing.T, newExecutor Make) {
	d := newDriver(t, open(t, newExecutor, small))
	window := 0
	for _, g := range d.info.Groups {
		window = max(window, g.Window)
	}
	const chunk = 5
	n := window + 2*d.info.PageSize + chunk
	if window == 0 || n+8 > small.MaxContext {
		t.Skip("no group of this executor has a window that a prompt outgrows")
	}
	requests := siblings(d.info, n)
	want := tokens(t, d.run(requests, alone))

	p := d.newPlan()
	parent := d.admit(&p.batch, &requests[0])
	for ; len(parent.ids)-parent.next > chunk; p = d.newPlan() {
		d.addRow(p, parent, chunk)
		d.start(p)
		d.finish()
	}
	if !slices.ContainsFunc(parent.tables, func(table []int32) bool { return table[0] == gone }) {
		t.Fatalf("nothing of %d tokens lies behind a window: %v", parent.next, parent.tables)
	}
	for _, free := range d.blocks.free {
		slices.Reverse(free) // what the parent gave back is the first to be taken
	}
	d.active = nil
	d.run(prompts(d.info, 33, 31), alone)
	d.active = []*sequence{parent}

	d.keep = true // for the children
	same(t, "forked behind a window", forkFrom(d, d.newPlan(), parent, requests[1:]), want)
}

// siblings are requests that differ in the child alone, the parent first.
func siblings(info executor.Info, promptLen int) []request {
	requests := make([]request, 3)
	for i := range requests {
		requests[i] = prompts(info, promptLen)[0]
		requests[i].sampling = sampling.Params{Temperature: 2}
		requests[i].seed, requests[i].child = 5, int32(i)
	}
	return requests
}

// forkAll generates requests, of which the first is the parent of the others.
func forkAll(d *driver, requests []request) [][]int32 {
	d.t.Helper()
	d.keep = true // for the children
	p := d.newPlan()
	return forkFrom(d, p, d.admit(&p.batch, &requests[0]), requests[1:])
}

// forkFrom generates the children of parent, and what is left of it: p computes what is left
// of its prompt.
func forkFrom(d *driver, p *plan, parent *sequence, children []request) [][]int32 {
	d.t.Helper()
	admitted := len(p.batch.Admit)
	family := []*sequence{parent}
	d.addRow(p, parent, len(parent.ids)-parent.next)
	for i := range children {
		child := d.admit(&p.batch, &children[i])
		p.batch.Admit[admitted+i].Parent = parent.slot
		for g, table := range parent.tables {
			child.tables[g] = slices.Clone(table)
			blocks := present(table)
			p.batch.Tables = append(p.batch.Tables, executor.Table{Slot: child.slot, Group: int32(g), Index: int32(len(table) - len(blocks)), Blocks: blocks})
		}
		child.next = len(child.ids)
		d.addRow(p, child, 0)
		family = append(family, child)
	}
	err := d.ex.Start(&p.batch)
	if errors.Is(err, executor.ErrUnsupported) {
		d.t.Skipf("this executor does not fork: %v", err)
	}
	if err != nil {
		d.t.Fatalf("Start: %v", err)
	}
	d.flying = append(d.flying, p)
	d.finish()

	next := d.newPlan()
	for _, child := range family[1:] {
		d.ownTail(next, child)
	}
	d.addRows(next, 1)
	d.start(next)
	d.run(nil, policy{chunk: 1, ahead: 1})
	return tokens(d.t, family)
}

// ownTail gives a child its own copies of the last blocks if more is to be written
// to them.
func (d *driver) ownTail(p *plan, child *sequence) {
	if child.next%d.info.PageSize == 0 {
		return
	}
	for g, table := range child.tables {
		last, block := len(table)-1, d.blocks.take(g, 1)
		p.batch.Copies = append(p.batch.Copies, executor.Copy{Kind: executor.CopyFork, Group: int32(g), From: table[last], To: block[0]})
		p.batch.Tables = append(p.batch.Tables, executor.Table{Slot: child.slot, Group: int32(g), Index: int32(last), Blocks: block})
		table[last] = block[0]
	}
}
