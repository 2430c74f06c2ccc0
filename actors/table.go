package actors

import (
	"time"

	"github.com/cbactor/cbactor/sched"
)

// table is every open request: accepted, not yet ended. Whoever takes an entry out
// ends it, so each ends exactly once.
type table struct {
	byID      map[string]*open
	byKey     map[sched.Key]*open
	orphaned  map[string]*open // by id: those that have ended before all of their children
	deadlines deadlines
	lastKey   sched.Key
	trace     *tracer
	meter     *Meter
}

type open struct {
	id       string
	key      sched.Key
	sink     Sink
	matcher  Matcher // nil: none
	parent   *open   // nil: it has none
	children []*open // end with it when it is cancelled
	living   int     // of children: open ones
	urgent   bool

	first, last time.Time // limits for its first token and its end, zero: none
	due         time.Time // the nearer of them
	place       int       // in the deadlines, 0: it has none

	prompt      int // tokens, until they are counted; of the first sequence of a request
	tokens      int // generated
	matched     bool
	cached      int
	preemptions int
	cache       Cache
}

func newTable(trace *tracer, meter *Meter) *table {
	return &table{trace: trace, meter: meter, byID: map[string]*open{}, byKey: map[sched.Key]*open{}, orphaned: map[string]*open{}}
}

// add opens a request under the next key.
func (t *table) add(id string, sink Sink) *open {
	t.lastKey++
	o := &open{id: id, key: t.lastKey, sink: sink}
	t.byID[id], t.byKey[o.key] = o, o
	t.meter.accepted.Add(1)
	delete(t.orphaned, id) // the name is another's now
	return o
}

// join makes an open request a child of another.
func (t *table) join(parent, child *open) {
	child.parent, parent.children = parent, append(parent.children, child)
	parent.living++
}

// find is the request with an id: one that is open, or has children that are; nil: none.
func (t *table) find(id string) *open {
	if o := t.byID[id]; o != nil {
		return o
	}
	return t.orphaned[id]
}

// limit gives a request its time limits; zero times are none.
func (t *table) limit(o *open, first, last time.Time) {
	o.first, o.last = first, last
	if !first.IsZero() && (last.IsZero() || first.Before(last)) {
		t.deadlines.set(o, first)
	} else {
		t.deadlines.set(o, last)
	}
}

// end closes a request and tells its sink.
func (t *table) end(o *open, reason Reason, err error) {
	delete(t.byID, o.id)
	delete(t.byKey, o.key)
	t.orphan(o)
	t.deadlines.set(o, time.Time{})
	t.trace.ended(o, reason, err)
	t.meter.end(reason)
	o.sink.End(End{Reason: reason, Err: err, Matched: o.matched, Cached: o.cached, Preemptions: o.preemptions, Cache: o.cache})
}

// orphan notes the end of a request for the sake of its family.
func (t *table) orphan(o *open) {
	if o.living > 0 {
		t.orphaned[o.id] = o
	}
	p := o.parent
	if p == nil {
		return
	}
	if p.living--; p.living == 0 && t.orphaned[p.id] == p {
		delete(t.orphaned, p.id)
	}
}

// failAll ends everything that is open.
func (t *table) failAll(err error) {
	for _, o := range t.byKey {
		t.end(o, ReasonFailed, err)
	}
}
