package engine

import (
	"container/list"
	"fmt"
	"strconv"
	"sync"

	"github.com/cbactor/cbactor/actors"
)

// maxKept bounds the results that are to be read or will be.
const maxKept = 1 << 20

// requests are all that are open, by id, and those whose result is kept until it is
// read. An id is in use as long as its request is here.
//
// Concurrency: its lock is held for no longer than a look takes. It is taken before
// that of a record, never the other way round.
type requests struct {
	mu      sync.Mutex
	byID    map[string]*record
	last    map[string]uint64 // by prefix: number of the last name made
	keeping int               // open ones whose result will be kept
	kept    list.List         // of *record: ended and not yet read, in the order of their ends
	news    chan struct{}
}

func newRequests() *requests {
	return &requests{byID: map[string]*record{}, last: map[string]uint64{}}
}

// enter takes the sequences of a request in, the first of them with its id; without
// one it is named, with prefix and a number. No other request has an id of them, or
// the error is ErrDuplicateID, and nothing is entered.
func (q *requests) enter(set []*record, prefix string) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	named := set[0].id != ""
	if !named {
		q.name(set, prefix)
	}
	for id, taken := q.taken(set); taken; id, taken = q.taken(set) {
		if named {
			return fmt.Errorf("%w: %q", ErrDuplicateID, id)
		}
		q.name(set, prefix) // the last name was in use by the caller's choice
	}
	for _, r := range set {
		q.byID[r.id] = r
	}
	return nil
}

// name gives a request the next name.
func (q *requests) name(set []*record, prefix string) {
	q.last[prefix]++
	set[0].id = prefix + strconv.FormatUint(q.last[prefix], 10)
}

// taken names the sequences after the first and looks for one whose id is in use.
func (q *requests) taken(set []*record) (id string, taken bool) {
	for i, r := range set {
		r.id = actors.ChildID(set[0].id, i)
		if q.byID[r.id] != nil {
			return r.id, true
		}
	}
	return "", false
}

// withdraw takes out sequences that were not accepted, because of err. Who reads them
// already, by their ids, learns it.
func (q *requests) withdraw(set []*record, err error) {
	q.mu.Lock()
	for _, r := range set {
		q.drop(r)
	}
	q.broadcast()
	q.mu.Unlock()
	for _, r := range set {
		r.refuse(err)
	}
}

// drop forgets a request, and its result.
func (q *requests) drop(r *record) {
	if q.byID[r.id] == r {
		delete(q.byID, r.id)
	}
	if !r.keep {
		return
	}
	r.keep = false
	if r.place == nil {
		q.keeping--
		return
	}
	q.kept.Remove(r.place)
	r.place = nil
}

// keepAll marks sequences that were entered: their results are to be kept.
func (q *requests) keepAll(set []*record) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if n := q.keeping + q.kept.Len(); n+len(set) > maxKept {
		return fmt.Errorf("%w: %d results wait to be read: read them first", ErrQueueFull, n)
	}
	for _, r := range set {
		r.keep = true
	}
	q.keeping += len(set)
	return nil
}

// left frees the id of a request that ends now, unless its result is kept.
func (q *requests) left(r *record) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !r.keep {
		q.drop(r)
	}
}

// ended takes note that a request has ended: there is room for another one, and a
// result to be read if it is kept.
func (q *requests) ended(r *record) {
	q.mu.Lock()
	defer q.mu.Unlock()
	r.gone = true
	if r.keep {
		q.keeping--
		r.place = q.kept.PushBack(r)
	} else {
		q.drop(r) // it was to be kept when it left
	}
	q.broadcast()
}

// open is the number of sequences that have not ended.
func (q *requests) open() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.byID) - q.kept.Len()
}

// find is the request with an id; nil: there is none.
func (q *requests) find(id string) *record {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.byID[id]
}

// changed is closed when a request ends, or there is something else to look at.
func (q *requests) changed() <-chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.news == nil {
		q.news = make(chan struct{})
	}
	return q.news
}

func (q *requests) broadcast() {
	if q.news != nil {
		close(q.news)
		q.news = nil
	}
}

// forget drops all results. Those who wait for one look again.
func (q *requests) forget() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for e := q.kept.Front(); e != nil; e = q.kept.Front() {
		q.drop(e.Value.(*record))
	}
	q.broadcast()
}
