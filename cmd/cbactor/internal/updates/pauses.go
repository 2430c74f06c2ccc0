package updates

import (
	"context"
	"time"

	"github.com/cbactor/cbactor/engine"
)

// How pauses are measured.
const (
	pauses     = 20
	pauseEvery = 100 * time.Millisecond // from the end of one to the begin of the next
)

// pause pauses the load now and then, and tells how long it took until no step ran.
func (l *load) pause(ctx context.Context) (times []time.Duration, err error) {
	for range pauses {
		begin := time.Now()
		h, err := l.engine.Pause(ctx, engine.PauseOptions{})
		if err != nil {
			return nil, err
		}
		times = append(times, time.Since(begin))
		if err := h.Release(""); err != nil {
			return nil, err
		}
		if err := l.pass(ctx, pauseEvery); err != nil {
			return nil, err
		}
	}
	return times, nil
}
