package jsonl

import (
	"bufio"
	"encoding/json"
	"io"
	"slices"
	"sync"
)

// queueSize is how many lines wait for a Writer at most.
const queueSize = 1 << 14

// Format is what a Writer is told of its lines.
type Format[L any] struct {
	Header any                    // the first line
	Begins func(L) bool           // a line that a file is worth having for: nothing is written before the first
	Lost   func(n int, first L) L // the line that stands where n are missing, of which it is told the first
}

// Writer writes lines of JSON as they come.
type Writer[L any] struct {
	format Format[L]
	wake   chan struct{} // room for one: something came, or no more will
	done   chan struct{}

	mu       sync.Mutex
	queue    []L
	lost     int // lines that came while the queue is full
	first    L   // of them
	finished bool
	failed   bool // the file's: what comes is dropped
}

// NewWriter begins lines on out, which is the Writer's from then on. report is called at
// most once, on the Writer's goroutine, with the error that has ended the file early or
// that of closing it.
func NewWriter[L any](out io.WriteCloser, format Format[L], report func(error)) *Writer[L] {
	w := &Writer[L]{format: format, wake: make(chan struct{}, 1), done: make(chan struct{})}
	go w.run(out, report)
	return w
}

// Add writes a line, which is the Writer's from then on, with all that it points to. It
// never waits: when the queue is full, the line is counted as lost.
func (w *Writer[L]) Add(l L) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.failed || w.finished:
		return
	case len(w.queue) < queueSize:
		w.queue = append(w.queue, l)
	default:
		if w.lost == 0 {
			w.first = l
		}
		w.lost++
	}
	w.notify()
}

// Finish ends the file: what was added is written, and the file closed. It does not
// wait for that; Done tells. What is added afterwards is dropped. It is safe twice.
func (w *Writer[L]) Finish() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.finished = true
	w.notify()
}

// Done is closed when the lines are written and the file is closed.
func (w *Writer[L]) Done() <-chan struct{} { return w.done }

func (w *Writer[L]) notify() {
	select {
	case w.wake <- struct{}{}:
	default: // the goroutine will look anyway
	}
}

func (w *Writer[L]) run(out io.WriteCloser, report func(error)) {
	defer close(w.done)
	err := w.write(out)
	if err != nil {
		w.fail()
	}
	if closing := out.Close(); err == nil {
		err = closing
	}
	if err != nil {
		report(err)
	}
}

// write writes until Finish, or until an error.
func (w *Writer[L]) write(file io.Writer) error {
	out := bufio.NewWriterSize(file, 1<<16)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	err := enc.Encode(w.format.Header)
	var lines []L
	for begun, finished := false, false; !finished && err == nil; {
		<-w.wake
		lines, finished = w.take(lines)
		begun = begun || slices.ContainsFunc(lines, w.format.Begins)
		for i := 0; i < len(lines) && err == nil; i++ {
			err = enc.Encode(&lines[i])
		}
		if err == nil && begun {
			err = out.Flush()
		}
	}
	return err
}

// take exchanges the queue for a slice that is done with. What found no room behind
// it stands at its end.
func (w *Writer[L]) take(done []L) (lines []L, finished bool) {
	clear(done) // lets go what they point to
	w.mu.Lock()
	defer w.mu.Unlock()
	lines, w.queue = w.queue, done[:0]
	if w.lost > 0 {
		var none L
		lines = append(lines, w.format.Lost(w.lost, w.first))
		w.lost, w.first = 0, none
	}
	return lines, w.finished
}

// fail drops what waits and what will come.
func (w *Writer[L]) fail() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failed, w.queue = true, nil
}
