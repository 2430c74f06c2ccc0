package sched

import (
	"testing"

	"github.com/cbactor/cbactor/blockmgr"
)

// The order of sacrifice and the way each goes, by lengths in pages, what was found,
// the host pool, and the price of copies.
func TestOrderOfSacrifice(t *testing.T) {
	type way struct {
		place int32
		how   blockmgr.How
	}
	for name, c := range map[string]struct {
		pages, found []int32
		host         int
		copyCost     float64
		want         []way
	}{
		"no host pool":               {[]int32{9, 3, 1, 3}, nil, 0, 0, []way{{2, 0}, {3, 0}, {1, 0}}},
		"found pages cost nothing":   {[]int32{9, 3, 1, 3}, []int32{0, 0, 0, 2}, 0, 0, []way{{3, 0}, {2, 0}, {1, 0}}},
		"copies for nothing":         {[]int32{9, 3, 1, 2}, nil, 9, 0, []way{{3, 1}, {2, 1}, {1, 1}}},
		"a cheap copy of many pages": {[]int32{9, 4, 1}, nil, 5, 0.2, []way{{2, 1}, {1, 1}}},
		"found pages are copied too": {[]int32{9, 4, 2}, []int32{0, 3, 0}, 9, 0.3, []way{{2, 1}, {1, 0}}},
		"room for the cheapest":      {[]int32{9, 4, 1, 3}, nil, 4, 0.5, []way{{2, 1}, {3, 1}, {1, 0}}},
		"who finds no room is dear":  {[]int32{9, 4, 3, 2, 2}, nil, 7, 0.5, []way{{4, 1}, {3, 1}, {2, 1}, {1, 0}}},
		"and goes behind others":     {[]int32{9, 6, 5, 4}, []int32{0, 2, 0, 0}, 5, 0.5, []way{{3, 1}, {1, 0}, {2, 0}}},
		"copies as dear as work":     {[]int32{9, 2, 1}, nil, 9, 1, []way{{2, 0}, {1, 0}}},
	} {
		s := New(Config{MaxTokens: 64, MaxSlots: 8, PageSize: 4, Blocks: 99, Depth: 1, Host: c.host, CopyCost: c.copyCost})
		for i, n := range c.pages {
			q := &seq{key: Key(i), planned: 4*n - 1, blocks: n}
			if c.found != nil {
				q.found = 4 * c.found[i]
			}
			s.active = append(s.active, q)
		}
		var r blockmgr.Reserve
		s.offerVictims(&r, 0)
		if len(r.Victims) != len(c.want) {
			t.Errorf("%s: %+v", name, r.Victims)
			continue
		}
		for i, w := range c.want {
			if v := r.Victims[i]; v.Place != w.place || v.How != w.how {
				t.Errorf("%s: %+v, want %v", name, r.Victims, c.want)
				break
			}
		}
	}
}

// Who ends with the step in flight goes first, and not to the host: it never comes back.
func TestWhoEndsAnywayGoesFirst(t *testing.T) {
	s := New(Config{MaxTokens: 64, MaxSlots: 8, PageSize: 4, Blocks: 99, Depth: 2, Host: 50, CopyCost: 0.1})
	s.active = []*seq{{}, {key: 1, ids: make([]int32, 40), planned: 40, blocks: 10, pending: 1, limit: 41}, {key: 2, ids: make([]int32, 3), planned: 3, blocks: 1, pending: 1, limit: 9}}
	var r blockmgr.Reserve
	s.offerVictims(&r, 0)
	if v := r.Victims; len(v) != 2 || v[0].Place != 1 || v[0].How != blockmgr.Recompute || v[1].How != blockmgr.ToHost {
		t.Errorf("%+v", v)
	}
}

// crowd is a scheduler with n started sequences of many lengths, a third of whom the
// host pool takes.
func crowd(n int) *Scheduler {
	s := New(Config{MaxTokens: n, MaxSlots: n, PageSize: 16, Blocks: 1 << 15, Depth: 2, Host: 10 * n, CopyCost: 0.3})
	for i := range int32(n) {
		pages := 1 + i*7919%61
		s.active = append(s.active, &seq{key: Key(i), planned: 16 * pages, blocks: pages})
	}
	return s
}

func TestNamingVictimsAllocatesNothing(t *testing.T) {
	s, r := crowd(256), new(blockmgr.Reserve)
	if n := testing.AllocsPerRun(10, func() {
		r.Reset()
		s.offerVictims(r, 0)
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// BenchmarkVictims256 is what a plan costs more when the pool is short.
func BenchmarkVictims256(b *testing.B) {
	s, r := crowd(256), new(blockmgr.Reserve)
	b.ReportAllocs()
	for b.Loop() {
		r.Reset()
		s.offerVictims(r, 0)
	}
}
