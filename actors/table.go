package actors

import "github.com/cbactor/cbactor/sched"

// table is every open request: accepted, not yet ended. Whoever takes an entry out
// ends it, so each ends exactly once.
type table struct {
	byID    map[string]*open
	byKey   map[sched.Key]*open
	lastKey sched.Key
	trace   *tracer
}

type open struct {
	id          string
	key         sched.Key
	sink        Sink
	tokens      int // generated
	cached      int
	preemptions int
	children    []*open // end with it when it is cancelled
}

func newTable(trace *tracer) *table {
	return &table{byID: map[string]*open{}, byKey: map[sched.Key]*open{}, trace: trace}
}

// add opens a request under the next key.
func (t *table) add(id string, sink Sink) *open {
	t.lastKey++
	o := &open{id: id, key: t.lastKey, sink: sink}
	t.byID[id], t.byKey[o.key] = o, o
	return o
}

// end closes a request and tells its sink.
func (t *table) end(o *open, reason Reason, err error) {
	delete(t.byID, o.id)
	delete(t.byKey, o.key)
	t.trace.ended(o, reason, err)
	o.sink.End(End{Reason: reason, Err: err, Cached: o.cached, Preemptions: o.preemptions})
}

// failAll ends everything that is open.
func (t *table) failAll(err error) {
	for _, o := range t.byKey {
		t.end(o, ReasonFailed, err)
	}
}
