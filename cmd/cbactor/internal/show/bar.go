package show

import (
	"io"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// Bar is a bar at the bottom of a terminal: how many bytes of so many are done.
type Bar struct {
	console  *Console
	progress *mpb.Progress
	bar      *mpb.Bar
}

// NewBar draws a bar on the terminal w. What is written to console meanwhile appears
// above it.
func NewBar(w io.Writer, console *Console, total int64) *Bar {
	b := &Bar{console: console, progress: mpb.New(mpb.WithOutput(w), mpb.WithRefreshRate(liveRefresh))}
	b.bar = b.progress.New(total, mpb.BarStyle(), mpb.BarWidth(liveBar),
		mpb.PrependDecorators(decor.CountersKibiByte("% .1f of % .1f ")),
		mpb.AppendDecorators(decor.AverageSpeed(decor.SizeB1024(0), " % .1f")))
	console.lead(b.progress)
	return b
}

// Add counts n bytes more.
func (b *Bar) Add(n int) { b.bar.IncrBy(n) }

// Close takes the bar away.
func (b *Bar) Close() error {
	b.console.lead(nil)
	b.bar.Abort(true)
	b.progress.Wait()
	return b.progress.Error
}
