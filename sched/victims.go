package sched

import (
	"cmp"
	"slices"

	"github.com/cbactor/cbactor/blockmgr"
)

// victim is who may be given up, and what that costs: in pages to compute again, or
// to copy to the host pool and back, weighted by Config.CopyCost.
type victim struct {
	blockmgr.Victim
	cost float64
}

// offerVictims lists whom candidates may be given blocks of, of whom the oldest is at
// that place in line: all behind it, the cheapest first, the newest first among equals.
// One goes to the host while blocks last there, even if all before it are taken.
func (s *Scheduler) offerVictims(r *blockmgr.Reserve, oldest int) {
	list := s.victims[:0]
	for i := oldest + 1; i < len(s.active); i++ {
		q := s.active[i]
		v := victim{Victim: blockmgr.Victim{Slot: int32(q.slot), Place: int32(i), After: q.lastStep}}
		v.How, v.cost = s.sacrifice(q, s.host)
		list = append(list, v)
	}
	slices.SortFunc(list, cheaper)
	host, dearer := s.host, false
	for i := range list {
		v := &list[i]
		if v.How != blockmgr.ToHost {
			continue
		}
		q := s.active[v.Place]
		if v.How, v.cost = s.sacrifice(q, host); v.How == blockmgr.ToHost {
			host -= int(q.blocks)
		} else {
			dearer = true
		}
	}
	if dearer {
		slices.SortFunc(list, cheaper)
	}
	for i := range list {
		r.Victims = append(r.Victims, list[i].Victim)
	}
	s.victims = list
}

// sacrifice is the cheaper way for q to go that is possible with so many blocks free
// in the host pool, and its cost. What q found in shared blocks when it started is
// likely to be found again; copies move it too. Who ends with a step in flight loses
// nothing.
func (s *Scheduler) sacrifice(q *seq, host int) (blockmgr.How, float64) {
	if q.ending() {
		return blockmgr.Recompute, 0
	}
	pages := s.blocksFor(q.planned)
	again, copied := float64(pages-q.found/int32(s.cfg.PageSize)), float64(pages)*s.cfg.CopyCost
	whole := q.blocks > 0 && q.blocks == pages // not a fork before its last page is its own
	if whole && int(pages) <= host && copied < again {
		return blockmgr.ToHost, copied
	}
	return blockmgr.Recompute, again
}

func cheaper(a, b victim) int {
	return cmp.Or(cmp.Compare(a.cost, b.cost), cmp.Compare(b.Place, a.Place))
}
