package story

import (
	"errors"
	"io"

	"github.com/cbactor/cbactor/internal/trace"
)

// Request is one request of a trace: what became of it, in sums. Times are in
// microseconds from when it was queued.
type Request struct {
	ID          string `json:"id"`
	Reason      string `json:"reason"` // "": it is open where the trace ends
	Prompt      int    `json:"prompt_tokens"`
	Generated   int    `json:"generated_tokens"` // known when it has ended
	Cached      int    `json:"cached_tokens"`
	Preemptions int    `json:"preemptions"`
	Total       int64  `json:"total_us"`    // to its end, or its last event
	InLine      int64  `json:"in_line_us"`  // from queued to its start
	GivenUp     int64  `json:"given_up_us"` // from being given up to coming back, all times together
	First       int64  `json:"first_us"`    // to the first token; 0: none

	queued  int64
	waiting int64 // since when it waits, in line or given up; -1: it does not
	ended   bool

	computed int // positions, the most that a step was to have
}

// vain is how many positions past its end were computed: a step that is planned while
// the one before runs does not know of the end yet.
func (r *Request) vain() int {
	return max(0, r.computed-(r.Prompt+max(0, r.Generated-1))) // the last token is never computed on
}

// add takes the next event of the request.
func (r *Request) add(e trace.Event) {
	switch e.Kind {
	case trace.Queued:
		r.Prompt, r.queued, r.waiting = e.Prompt, e.Micros, e.Micros
	case trace.Preempted:
		if r.waiting < 0 { // else it only loses what it has in the host pool
			r.waiting = e.Micros
			r.Preemptions++
		}
	case trace.Started, trace.Back, trace.Forked:
		r.onward(e.Micros)
		if e.Kind == trace.Started {
			r.Cached = e.Cached
		}
	case trace.Chunk:
		r.computed = max(r.computed, e.Start+e.Count)
	case trace.First:
		r.First = e.Micros - r.queued
	case trace.Ended:
		r.onward(e.Micros)
		r.ended, r.Reason, r.Generated = true, e.Reason, e.Tokens
	}
	r.Total = e.Micros - r.queued
}

// onward ends a wait.
func (r *Request) onward(now int64) {
	switch {
	case r.waiting >= 0 && r.Preemptions > 0:
		r.GivenUp += now - r.waiting
	case r.waiting >= 0:
		r.InLine += now - r.waiting
	}
	r.waiting = -1
}

// List reads a trace to its end and gives its requests in the order of their coming.
// An id that was used again stands as often.
func List(in *trace.Reader) ([]*Request, error) {
	var list []*Request
	open := map[string]*Request{}
	for {
		e, err := in.Next()
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return nil, err
		}
		if e.ID == "" {
			continue
		}
		r := open[e.ID]
		if r == nil || e.Kind == trace.Queued { // the beginning or the end of the one before may be lost
			r = begin(e)
			open[e.ID] = r
			list = append(list, r)
		}
		r.add(e)
		if r.ended {
			delete(open, e.ID)
		}
	}
}

// begin makes the request of its first event that there is.
func begin(e trace.Event) *Request {
	return &Request{ID: e.ID, queued: e.Micros, waiting: -1}
}
