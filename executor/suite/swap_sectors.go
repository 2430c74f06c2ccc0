package suite

import (
	"slices"
	"testing"
)

// testSwapAcrossGroups lets a sequence come back, in the batch that copies another one out,
// over sectors in which the other one had blocks of another group: a block then lies where
// parts of several were, which are read before.
func testSwapAcrossGroups(t *testing.T, newExecutor Make) {
	d := newSwapDriver(t, newExecutor)
	switch {
	case d.info.Sectors == 0:
		t.Skip("the groups of this executor share no memory")
	case d.info.Overlap:
		t.Skip("this executor copies in beside its rows")
	}
	requests := swapped(d.info, 23, 22)
	want := d.run(requests, alone)
	tokens(t, want)
	p := d.newPlan()
	x := d.admit(&p.batch, &requests[0])
	y := d.admit(&p.batch, &requests[1])
	d.addRows(p, 16)
	d.start(p)
	d.finish()

	p = d.newPlan()
	hostX := d.swapOut(p, x)
	d.addRows(p, 16) // of y
	d.start(p)
	d.finish()

	p = d.newPlan()
	before := d.sectorsOf(y)
	hostY := d.swapOut(p, y)
	d.blocks.turn(before)
	x = d.swapIn(p, x, hostX)
	for g, sectors := range d.sectorsOf(x) {
		if other := before[(g+1)%len(before)]; !slices.ContainsFunc(sectors, func(s int) bool { return slices.Contains(other, s) }) {
			t.Fatalf("group %d is in sectors %v, the other was in %v: nothing is shown", g, sectors, other)
		}
	}
	d.addRows(p, 16)
	d.start(p)
	d.finish()

	p = d.newPlan()
	y = d.swapIn(p, y, hostY)
	d.addRows(p, 16)
	d.start(p)
	d.run(nil, policy{chunk: 1, ahead: 1})
	sameRun(t, "over the other's sectors", x, want[0])
	sameRun(t, "whose sectors were taken", y, want[1])
}

// sectorsOf are those in which a sequence has blocks of each group.
func (d *driver) sectorsOf(s *sequence) [][]int {
	list := make([][]int, len(s.tables))
	for g, table := range s.tables {
		for _, b := range present(table) {
			list[g] = append(list[g], int(b)/d.info.Groups[g].PerSector)
		}
	}
	return list
}

// turn gives the sectors of each group to the one before it, while nobody has blocks: those
// that are named for a group before the others.
func (b *blocks) turn(first [][]int) {
	n := len(b.free)
	sectors := make([][]int, n) // by the group that is to have them
	take := func(g, s int) {
		if to := (g + n - 1) % n; !slices.Contains(sectors[to], s) {
			sectors[to] = append(sectors[to], s)
		}
	}
	for g, list := range first {
		for _, s := range list {
			take(g, s)
		}
		for _, block := range b.free[g] {
			take(g, int(block)/b.info.Groups[g].PerSector)
		}
	}
	for g, list := range sectors {
		b.free[g] = nil
		for _, s := range list {
			per := b.info.Groups[g].PerSector
			b.add(g, s*per, (s+1)*per)
		}
	}
}
