package suite

import (
	"math"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/executor"
)

// newSwapDriver makes a driver over an executor with a host pool. It keeps the
// logits, where the executor shows them.
func newSwapDriver(t *testing.T, newExecutor Make) *driver {
	t.Helper()
	var d *driver
	o := small
	o.KeepLogits = func(slot, _ int, logits []float32) { d.keepLogits(executor.Slot(slot), logits) }
	d = newDriver(t, open(t, newExecutor, o))
	for _, g := range d.info.Groups {
		if g.Host == 0 {
			t.Skip("this executor has no host pool")
		}
		var host []int32
		for i := range g.Host {
			host = append(host, int32(g.Host-1-i)) // downwards: no number means the same block on both sides
		}
		d.host = append(d.host, host)
	}
	return d
}

// keepLogits notes logits of the step that is being finished, as bits.
func (d *driver) keepLogits(slot executor.Slot, logits []float32) {
	bits := make([]uint32, len(logits))
	for i, x := range logits {
		bits[i] = math.Float32bits(x)
	}
	for _, s := range d.flying[0].rows {
		if s.slot == slot {
			s.logits = append(s.logits, bits)
		}
	}
}

// startNext starts p when there is room for it.
func (d *driver) startNext(p *plan) {
	d.t.Helper()
	for len(d.flying) >= d.info.MaxOutstanding {
		d.finish()
	}
	d.start(p)
}

// behindCopies is the plan for the rows that need what p copies in: p itself, or the
// next one where copies run beside the rows.
func (d *driver) behindCopies(p *plan) *plan {
	d.t.Helper()
	if !d.info.Overlap {
		return p
	}
	d.startNext(p)
	return d.newPlan()
}

// swapOut copies what s has to the host and retires it. Its blocks are the next
// to be handed out, to rows of p too.
func (d *driver) swapOut(p *plan, s *sequence) (host [][]int32) {
	for g, table := range s.tables {
		blocks := present(table)
		n := len(blocks)
		host = append(host, d.host[g][:n:n])
		d.host[g] = d.host[g][n:]
		for i, block := range blocks {
			p.batch.Copies = append(p.batch.Copies, executor.Copy{Kind: executor.CopyOut, Group: int32(g), From: block, To: host[g][i]})
		}
		d.blocks.giveFirst(g, blocks)
	}
	s.tables = nil
	p.batch.Retire = append(p.batch.Retire, s.slot)
	p.ended = append(p.ended, s)
	d.active = slices.DeleteFunc(d.active, func(other *sequence) bool { return other == s })
	return host
}

// swapIn admits s again, whose steps are all finished, with what it generated, and
// copies its blocks from the host. Those of the host are the next to be used, by
// copies of p too.
func (d *driver) swapIn(p *plan, s *sequence, host [][]int32) *sequence {
	r := *s.request
	r.promptLen = r.prompted()
	r.ids = slices.Concat(r.ids[:r.promptLen], s.out)
	back := d.admit(&p.batch, &r)
	back.next, back.promised = s.next, len(s.out)
	back.out, back.logits = slices.Clone(s.out), slices.Clone(s.logits)
	back.drawn, back.prompt = slices.Clone(s.drawn), slices.Clone(s.prompt)
	for g := range host {
		had := (s.next + d.info.PageSize - 1) / d.info.PageSize
		back.tables[g] = slices.Repeat([]int32{gone}, had-len(host[g]))
	}
	d.extend(&p.batch, back, s.next)
	for g, blocks := range host {
		for i, block := range present(back.tables[g]) {
			p.batch.Copies = append(p.batch.Copies, executor.Copy{Kind: executor.CopyIn, Group: int32(g), From: blocks[i], To: block})
		}
		d.host[g] = slices.Concat(blocks, d.host[g])
	}
	return back
}
