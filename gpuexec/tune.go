package gpuexec

import (
	"errors"
	"fmt"
	"time"

	"github.com/cbactor/cbactor/cuda"
	"github.com/cbactor/cbactor/executor/tuning"
)

// TunerVersion changes when what was measured by an earlier one means something else.
const TunerVersion = 1

// tune chooses with the weights that are loaded, while there is no step, on a thread that the context is bound
// to.
func (e *Executor) tune() (err error) {
	c := &e.config.Tune
	if !c.Measures() {
		return nil
	}
	w := &deviceClock{stream: e.compute}
	for _, event := range []**cuda.Event{&w.began, &w.ended} {
		if *event, err = e.ctx.NewEvent(true); err != nil {
			return errors.Join(err, w.close())
		}
	}
	d := e.config.Device
	asker := &tuning.Asker{Prefix: fmt.Sprintf("%s %d.%d, ", d.Name, d.Major, d.Minor), Known: c.Known, Clock: w.elapsed}
	err = (&trials{Executor: e, weights: e.places[0].Ready}).all(asker)
	if err = errors.Join(err, w.close()); err == nil && c.Chosen != nil && len(asker.Choices) > 0 {
		c.Chosen(asker.Choices)
	}
	return err
}

// deviceClock takes the time of what is enqueued to a stream.
type deviceClock struct {
	stream       *cuda.Stream
	began, ended *cuda.Event
}

func (w *deviceClock) elapsed(run func() error) (time.Duration, error) {
	if err := errors.Join(w.stream.Record(w.began), run(), w.stream.Record(w.ended), w.ended.Synchronize()); err != nil {
		return 0, err
	}
	return cuda.Elapsed(w.began, w.ended)
}

func (w *deviceClock) close() error {
	var errs []error
	for _, event := range []*cuda.Event{w.began, w.ended} {
		if event != nil {
			errs = append(errs, event.Close())
		}
	}
	return errors.Join(errs...)
}
