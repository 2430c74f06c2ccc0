package actors

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/cbactor/cbactor/sched"
)

// Whatever limits are set, moved and taken away, they pass in order, as in a plain
// list that is searched.
func TestDeadlinesPassInOrder(t *testing.T) {
	epoch := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 1))
		var d deadlines
		all := make([]*open, 40)
		for i := range all {
			all[i] = &open{key: sched.Key(1 + i)}
		}
		nearest := func() (best *open) {
			for _, o := range all {
				if !o.due.IsZero() && (best == nil || o.due.Before(best.due)) {
					best = o
				}
			}
			return best
		}
		for range 500 {
			o := all[r.IntN(len(all))]
			at := epoch.Add(time.Duration(1+r.IntN(20)) * time.Second)
			if r.IntN(3) == 0 {
				at = time.Time{}
			}
			d.set(o, at)
			want := nearest()
			if want == nil {
				if !d.next().IsZero() || d.passed(epoch.Add(time.Hour)) != nil {
					t.Fatalf("seed %d: a limit is left", seed)
				}
				continue
			}
			if d.next() != want.due || d.passed(want.due.Add(-1)) != nil || d.passed(want.due) != want {
				t.Fatalf("seed %d: next is %v, want %v of request %d", seed, d.next(), want.due, want.key)
			}
		}
		var gone []*open
		for o := d.passed(epoch.Add(time.Hour)); o != nil; o = d.passed(epoch.Add(time.Hour)) {
			gone = append(gone, &open{key: o.key, due: o.due})
			d.set(o, time.Time{})
		}
		if !slices.IsSortedFunc(gone, func(a, b *open) int { return a.due.Compare(b.due) }) || nearest() != nil {
			t.Fatalf("seed %d: not in order, or one is left", seed)
		}
	}
}

// The nearer of both limits counts; without that for the first token the other one.
func TestTheNearerLimitCounts(t *testing.T) {
	near, far := time.Unix(1, 0), time.Unix(2, 0)
	for _, c := range []struct{ first, last, want time.Time }{
		{time.Time{}, time.Time{}, time.Time{}},
		{near, time.Time{}, near},
		{time.Time{}, far, far},
		{near, far, near},
		{far, near, near},
	} {
		table := newTable(nil, new(Meter))
		o := table.add("a", nil)
		table.limit(o, c.first, c.last)
		if got := table.deadlines.next(); !got.Equal(c.want) {
			t.Errorf("first token %v, end %v: %v, want %v", c.first, c.last, got, c.want)
		}
	}
}
