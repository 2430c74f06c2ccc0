package replaylog

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// ErrWrite is the class of what ends a log early.
var ErrWrite = errors.New("the replay log cannot be written and ends")

// queueSize is how many lines wait for the writer at most.
const queueSize = 1 << 14

// Recorder writes lines as they come.
type Recorder struct {
	lines  chan Line
	lost   atomic.Int64  // lines that found the queue full, and are not told of yet
	finish chan struct{} // closed: no more will come
	once   sync.Once     // closes it
	done   chan struct{}
	number atomic.Uint64 // of the last request
}

// NewRecorder begins a log on w, which gets nothing as long as there is no request.
// The header's Version and Start are filled in. report is called at most once, on the
// Recorder's goroutine, with an ErrWrite.
func NewRecorder(w io.WriteCloser, h Header, report func(error)) *Recorder {
	r := &Recorder{lines: make(chan Line, queueSize), finish: make(chan struct{}), done: make(chan struct{})}
	h.Version, h.Start = Version, time.Now().UTC()
	go r.run(w, h, report)
	return r
}

// Number is a number for a request that has none.
func (r *Recorder) Number() uint64 { return r.number.Add(1) }

// Add records a line, which is the Recorder's from then on, with all that it points to.
// It never waits: when the queue is full, the line is counted as lost.
func (r *Recorder) Add(l Line) {
	select {
	case r.lines <- l:
	default:
		r.lost.Add(1)
	}
}

// Finish ends the log: what was added is written, and the writer closed. It does not
// wait for that; Done tells. It is safe twice.
func (r *Recorder) Finish() { r.once.Do(func() { close(r.finish) }) }

// Done is closed when the log is written and its writer closed.
func (r *Recorder) Done() <-chan struct{} { return r.done }

func (r *Recorder) run(w io.WriteCloser, h Header, report func(error)) {
	defer close(r.done)
	err := r.write(w, h)
	if closing := w.Close(); err == nil {
		err = closing
	}
	if err != nil {
		report(fmt.Errorf("%w: %w", ErrWrite, err))
	}
}

// write writes until Finish, or until an error: what comes later fills the queue and
// is dropped.
func (r *Recorder) write(w io.Writer, h Header) error {
	out := bufio.NewWriterSize(w, 1<<16)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	err := enc.Encode(h)
	for begun := false; err == nil; {
		l, ok := r.next()
		if !ok {
			break
		}
		begun = begun || l.Request != nil
		if err = enc.Encode(l); err == nil && begun && len(r.lines) == 0 {
			err = out.Flush()
		}
	}
	return err
}

// next is the next line to write, false after the last.
func (r *Recorder) next() (Line, bool) {
	if n := r.lost.Swap(0); n > 0 {
		return Line{Lost: n}, true
	}
	select {
	case l := <-r.lines:
		return l, true
	default:
	}
	select {
	case l := <-r.lines:
		return l, true
	case <-r.finish:
	}
	select {
	case l := <-r.lines:
		return l, true
	default:
		return Line{}, false
	}
}
