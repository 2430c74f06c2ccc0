package cpuexec

import (
	"fmt"
	"runtime"

	"github.com/cbactor/cbactor/executor/tuning"
)

// TunerVersion changes when what was measured by an earlier one means something else.
const TunerVersion = 2

// tune chooses with w, while there is no step. It has a thread of its own, since that
// which calls New need not be the one that Config.Pin binds.
func (e *Executor) tune(w *packed) (err error) {
	c := &e.config.Tune
	if !c.Measures() {
		return nil
	}
	t := &tuning.Asker{Prefix: fmt.Sprintf("%s, %d threads, ", e.kernels.Name, e.config.Threads), Known: c.Known, Clock: tuning.Elapsed}
	trials := &trials{step: e.step, table: e.tiles, tune: c}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // for good: it may be bound
		err = trials.with(w, func() error { return trials.all(t) })
	}()
	<-done
	if c.Chosen != nil && len(t.Choices) > 0 && err == nil {
		c.Chosen(t.Choices)
	}
	return err
}
