package show

import (
	"io"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

const (
	liveRefresh = 100 * time.Millisecond
	liveSteps   = 1000 // of the bar
	liveBar     = 30   // cells of the bar
)

// Live is a block at the bottom of a terminal: some lines for each running request
// with the end of its text, as many requests as there is room for, and a bar below.
type Live struct {
	console  *Console
	counted  *Tally // read by Event only
	progress *mpb.Progress
	bar      *mpb.Bar

	mu    sync.Mutex // the block is drawn on another goroutine
	tally Tally      // as of the last event
	rows  rows
}

// NewLive draws a block on the terminal w, with places for requests of so many
// lines each. What is written to console meanwhile appears above it. tally counts
// each event before Event gets it.
func NewLive(w io.Writer, console *Console, tally *Tally, places, height int) *Live {
	l := &Live{console: console, counted: tally, tally: *tally, rows: rows{places: make([]*row, places)}}
	lines := make([]mpb.BarFiller, places*height) // from the bar upwards
	for i := range lines {
		lines[len(lines)-1-i] = mpb.BarFillerFunc(func(w io.Writer, s decor.Statistics) error {
			return l.drawLine(w, i/height, i%height, height, s.AvailableWidth)
		})
	}
	l.progress = mpb.New(mpb.WithOutput(w), mpb.WithRefreshRate(liveRefresh))
	l.bar = l.progress.New(liveSteps, barStyle{l},
		mpb.BarTopExtender(lines...), mpb.BarWidth(liveBar), mpb.BarFillerTrim(), // blanks of its own go with the bar
		mpb.PrependDecorators(decor.Any(func(decor.Statistics) string { return l.count((*Tally).requests) + " " })),
		mpb.AppendDecorators(decor.Any(func(decor.Statistics) string {
			return " " + l.count(func(t *Tally) string { return t.speed(time.Now()) })
		})))
	console.lead(l.progress)
	return l
}

// Event implements Sink.
func (l *Live) Event(e Event) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tally = *l.counted
	l.rows.event(e)
	return nil
}

// Close implements Sink: it takes the block away.
func (l *Live) Close() error {
	l.console.lead(nil)
	l.bar.Abort(true)
	l.progress.Wait()
	return l.progress.Error
}

// drawLine draws a line, the n-th of a place of so many.
func (l *Live) drawLine(w io.Writer, place, n, of, width int) error {
	l.mu.Lock()
	line := l.rows.line(place, n, of, width)
	l.mu.Unlock()
	_, err := io.WriteString(w, line+"\n")
	return err
}

// count is what of, a method of the tally, says.
func (l *Live) count(of func(*Tally) string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return of(&l.tally)
}

// barStyle draws a bar that is as far as the run, which an estimate may also move
// backwards, and none when the run's end is not known.
type barStyle struct{ live *Live }

// Build implements mpb.BarFillerBuilder.
func (s barStyle) Build() mpb.BarFiller {
	bar := mpb.BarStyle().Build()
	return mpb.BarFillerFunc(func(w io.Writer, stat decor.Statistics) error {
		s.live.mu.Lock()
		stat.Current = int64(s.live.tally.fraction() * liveSteps)
		endless := s.live.tally.total == 0
		s.live.mu.Unlock()
		if endless {
			return nil
		}
		return bar.Fill(w, stat)
	})
}
