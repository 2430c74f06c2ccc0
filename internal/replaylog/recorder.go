package replaylog

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/cbactor/cbactor/internal/jsonl"
)

// ErrWrite is the class of what ends a log early.
var ErrWrite = errors.New("the replay log cannot be written and ends")

// Recorder writes lines as they come.
type Recorder struct {
	*jsonl.Writer[Line]

	mu     sync.Mutex
	number uint64 // of the last request
}

// NewRecorder begins a log on w, which gets nothing as long as there is no request.
// The header's Version and Start are filled in. report is called at most once, on the
// Recorder's goroutine, with an ErrWrite.
func NewRecorder(w io.WriteCloser, h Header, report func(error)) *Recorder {
	h.Version, h.Start = Version, time.Now().UTC()
	return &Recorder{Writer: jsonl.NewWriter(w, jsonl.Format[Line]{
		Header: h,
		Begins: func(l Line) bool { return l.Request != nil },
		Lost:   func(n int, _ Line) Line { return Line{Lost: int64(n)} },
	}, func(err error) { report(fmt.Errorf("%w: %w", ErrWrite, err)) })}
}

// AddRequest writes a request under a number that it gives it: numbers ascend in the log.
func (r *Recorder) AddRequest(q *Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.number++
	q.Number = r.number
	r.Add(Line{Request: q})
}
