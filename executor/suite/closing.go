package suite

import (
	"errors"
	"testing"
	"time"

	"github.com/cbactor/cbactor/executor"
)

// testClose closes with a step handed over, which still has its result.
func testClose(t *testing.T, newExecutor Make) {
	ex := newExecutor(t, small)
	d := newDriver(t, ex)
	p := d.newPlan()
	s := d.admit(&p.batch, &prompts(d.info, 5)[0])
	d.addRows(p, 5)
	d.start(p)
	closed := make(chan error)
	go func() { closed <- errors.Join(ex.Close(), ex.Close()) }() // may wait for the step
	d.finish()
	if err := <-closed; err != nil {
		t.Errorf("Close: %v", err)
	}
	if len(s.out) != 1 {
		t.Errorf("the step handed over before Close gave %v", s.out)
	}
	for range 2 {
		if err := ex.Finish(&d.result); !errors.Is(err, executor.ErrClosed) {
			t.Errorf("Finish after Close answers %v, want ErrClosed", err)
		}
	}
	if err := ex.Start(&d.newPlan().batch); err == nil {
		t.Error("Start after Close takes a step")
	}
}

// testCloseWaiting closes while Finish waits for a step.
func testCloseWaiting(t *testing.T, newExecutor Make) {
	ex := newExecutor(t, small)
	finished := make(chan error)
	go func() { finished <- ex.Finish(new(executor.Result)) }()
	time.Sleep(5 * time.Millisecond) // most likely Finish waits by then; either way it must end
	if err := ex.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	select {
	case err := <-finished:
		if !errors.Is(err, executor.ErrClosed) {
			t.Errorf("Finish answers %v, want ErrClosed", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("Finish still waits after Close")
	}
}
