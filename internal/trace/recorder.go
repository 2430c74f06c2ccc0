package trace

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"
)

// ErrWrite is the class of what ends a trace early.
var ErrWrite = errors.New("the trace cannot be written and ends")

// queueSize is how many events wait for the writer at most.
const queueSize = 1 << 14

// Recorder writes events as they come.
type Recorder struct {
	start time.Time
	wake  chan struct{} // room for one: something came, or no more will
	done  chan struct{}

	mu       sync.Mutex
	queue    []Event
	lost     Event // what came while the queue is full: how many, since when
	finished bool
	failed   bool // the writer's: what comes is dropped
}

// NewRecorder begins a trace on w, which gets nothing as long as there is no request.
// The header's Version and Start are filled in.
// report is called at most once, on the Recorder's goroutine, with an ErrWrite.
func NewRecorder(w io.WriteCloser, h Header, report func(error)) *Recorder {
	r := &Recorder{start: time.Now(), wake: make(chan struct{}, 1), done: make(chan struct{})}
	h.Version, h.Start = Version, r.start.UTC()
	go r.run(w, h, report)
	return r
}

// Add records an event, with the time of now, and tells that time. It never waits:
// when the queue is full, the event is counted as lost.
func (r *Recorder) Add(e Event) (micros int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e.Micros = time.Since(r.start).Microseconds()
	switch {
	case r.failed || r.finished:
		return e.Micros
	case len(r.queue) >= queueSize:
		if r.lost.Count == 0 {
			r.lost = Event{Micros: e.Micros, Kind: Lost}
		}
		r.lost.Count++
	default:
		r.queue = append(r.queue, e)
	}
	r.notify()
	return e.Micros
}

// Finish ends the trace: what was added is written, and the writer closed. It does
// not wait for that; Done tells. What is added afterwards is dropped.
func (r *Recorder) Finish() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.finished = true
	r.notify()
}

// Done is closed when the trace is written and its writer closed.
func (r *Recorder) Done() <-chan struct{} { return r.done }

func (r *Recorder) notify() {
	select {
	case r.wake <- struct{}{}:
	default: // the goroutine will look anyway
	}
}

// run writes until Finish, or until an error; nothing before there is a request.
func (r *Recorder) run(w io.WriteCloser, h Header, report func(error)) {
	defer close(r.done)
	out := bufio.NewWriterSize(w, 1<<16)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	err := enc.Encode(h)
	var events []Event
	for begun, finished := false, false; !finished && err == nil; {
		<-r.wake
		var lost Event
		events, lost, finished = r.take(events)
		begun = begun || slices.ContainsFunc(events, func(e Event) bool { return e.ID != "" })
		if err = encode(enc, events, lost); err == nil && begun {
			err = out.Flush()
		}
	}
	if err != nil {
		r.fail()
	}
	if closing := w.Close(); err == nil {
		err = closing
	}
	if err != nil {
		report(fmt.Errorf("%w: %w", ErrWrite, err))
	}
}

func encode(enc *json.Encoder, events []Event, lost Event) error {
	for i := range events {
		if err := enc.Encode(&events[i]); err != nil {
			return err
		}
	}
	if lost.Count > 0 {
		return enc.Encode(&lost)
	}
	return nil
}

// take exchanges the queue for a slice that is done with.
func (r *Recorder) take(done []Event) (events []Event, lost Event, finished bool) {
	clear(done) // lets the strings go
	r.mu.Lock()
	defer r.mu.Unlock()
	events, lost = r.queue, r.lost
	r.queue, r.lost = done[:0], Event{}
	return events, lost, r.finished
}

// fail drops what waits and what will come.
func (r *Recorder) fail() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed, r.queue = true, nil
}
