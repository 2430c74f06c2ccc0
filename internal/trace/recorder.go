package trace

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/cbactor/cbactor/internal/jsonl"
)

// ErrWrite is the class of what ends a trace early.
var ErrWrite = errors.New("the trace cannot be written and ends")

// Recorder writes events as they come.
type Recorder struct {
	*jsonl.Writer[Event]
	start time.Time
	mu    sync.Mutex // of an event's time and place, so that times ascend
}

// NewRecorder begins a trace on w, which gets nothing as long as there is no request.
// The header's Version and Start are filled in.
// report is called at most once, on the Recorder's goroutine, with an ErrWrite.
func NewRecorder(w io.WriteCloser, h Header, report func(error)) *Recorder {
	r := &Recorder{start: time.Now()}
	h.Version, h.Start = Version, r.start.UTC()
	r.Writer = jsonl.NewWriter(w, jsonl.Format[Event]{
		Header: h,
		Begins: func(e Event) bool { return e.ID != "" },
		Lost:   func(n int, first Event) Event { return Event{Micros: first.Micros, Kind: Lost, Count: n} },
	}, func(err error) { report(fmt.Errorf("%w: %w", ErrWrite, err)) })
	return r
}

// Add records an event, with the time of now, and tells that time. It never waits:
// when the queue is full, the event is counted as lost.
func (r *Recorder) Add(e Event) (micros int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e.Micros = time.Since(r.start).Microseconds()
	r.Writer.Add(e)
	return e.Micros
}
