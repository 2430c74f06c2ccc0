package gpuexec

import (
	"time"

	"github.com/cbactor/cbactor/cuda"
)

// Timing is the device's time of a step, by its own clock.
type Timing struct {
	Step uint64
	Busy time.Duration // from the first of its kernels and copies of blocks, when its input is there, to the end of the last, but for what Finish launches
	Gap  time.Duration // from the end of the step before to that first; of the first step 0
}

// lapsKept is how many steps have events of their own: more than may be handed over while one of them
// is read with the one before it.
const lapsKept = 2 * MaxOutstanding

// stopwatch takes the time of steps; nil: nobody has asked.
type stopwatch struct {
	laps [lapsKept]lap // of steps in turn
	next int           // lap, the launcher's
	tell func(Timing)
}

// lap is when a step began and ended on the device.
type lap struct{ began, ended *cuda.Event }

// newStopwatch is nil without tell. What it made so far is kept where it fails, for close.
func newStopwatch(ctx *cuda.Context, tell func(Timing)) (w *stopwatch, err error) {
	if tell == nil {
		return nil, nil
	}
	w = &stopwatch{tell: tell}
	for i := range w.laps {
		for _, event := range []**cuda.Event{&w.laps[i].began, &w.laps[i].ended} {
			if *event, err = ctx.NewEvent(true); err != nil {
				return w, err
			}
		}
	}
	return w, nil
}

// begin and end note where a step begins and ends on a stream.
func (w *stopwatch) begin(s *step, stream *cuda.Stream) error {
	if w == nil {
		return nil
	}
	s.lap = w.next
	w.next++
	return stream.Record(w.laps[s.lap%lapsKept].began)
}

func (w *stopwatch) end(s *step, stream *cuda.Stream) error {
	if w == nil {
		return nil
	}
	return stream.Record(w.laps[s.lap%lapsKept].ended)
}

// stop tells of a step whose work is done.
func (w *stopwatch) stop(s *step) (err error) {
	if w == nil {
		return nil
	}
	t, now := Timing{Step: s.batch.Step}, &w.laps[s.lap%lapsKept]
	if t.Busy, err = cuda.Elapsed(now.began, now.ended); err != nil {
		return err
	}
	if s.lap > 0 {
		if t.Gap, err = cuda.Elapsed(w.laps[(s.lap-1)%lapsKept].ended, now.began); err != nil {
			return err
		}
	}
	w.tell(t)
	return nil
}

func (w *stopwatch) close() (errs []error) {
	if w == nil {
		return nil
	}
	for _, lap := range w.laps {
		for _, event := range []*cuda.Event{lap.began, lap.ended} {
			if event != nil {
				errs = append(errs, event.Close())
			}
		}
	}
	return errs
}
