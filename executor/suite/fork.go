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
		requests := make([]request, 3)
		d := newDriver(t, open(t, newExecutor, small))
		for i := range requests {
			requests[i] = prompts(d.info, promptLen)[0]
			requests[i].sampling = sampling.Params{Temperature: 2}
			requests[i].seed, requests[i].child = 5, int32(i)
		}
		want := tokens(t, d.run(requests, alone))
		same(t, "forked", forkAll(d, requests), want)
	}
}

// forkAll generates requests, of which the first is the parent of the others.
func forkAll(d *driver, requests []request) [][]int32 {
	d.t.Helper()
	d.keep = true // for the children
	p := d.newPlan()
	parent := d.admit(&p.batch, &requests[0])
	family := []*sequence{parent}
	d.addRow(p, parent, len(parent.ids))
	for i := range requests[1:] {
		child := d.admit(&p.batch, &requests[i+1])
		p.batch.Admit[i+1].Parent = parent.slot
		for g, table := range parent.tables {
			child.tables[g] = slices.Clone(table)
			p.batch.Tables = append(p.batch.Tables, executor.Table{Slot: child.slot, Group: int32(g), Blocks: table})
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
	out := make([][]int32, len(family))
	for i, s := range family {
		out[i] = s.out
	}
	return out
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
