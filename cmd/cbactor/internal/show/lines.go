package show

import (
	"fmt"
	"io"
	"time"
)

// lineEvery is the least time between two lines of progress.
const lineEvery = 5 * time.Second

// Lines writes progress as plain lines, for a reader that is no terminal.
type Lines struct {
	w     io.Writer
	tally *Tally
	now   func() time.Time
	last  time.Time
}

// NewLines writes to w what tally counts.
func NewLines(w io.Writer, tally *Tally) *Lines {
	return &Lines{w: w, tally: tally, now: time.Now, last: tally.start}
}

// Event implements Sink.
func (l *Lines) Event(Event) error {
	now := l.now()
	if now.Sub(l.last) < lineEvery {
		return nil
	}
	l.last = now
	// A reader of the progress who has gone is no reason to end the run.
	_, _ = fmt.Fprintln(l.w, "cbactor: "+l.tally.line(now))
	return nil
}

// Close implements Sink.
func (*Lines) Close() error { return nil }
