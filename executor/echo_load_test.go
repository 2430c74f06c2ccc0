package executor_test

import (
	"errors"
	"testing"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/weights"
)

// A set has a place until it is dropped; a batch names what has one.
func TestEchoLoads(t *testing.T) {
	e := executor.NewEcho(executor.EchoConfig{Sets: 2})
	step := uint64(0)
	names := func(epoch uint32) error {
		step++
		err := e.Start(&executor.Batch{Step: step, Epoch: epoch})
		if err == nil {
			err = e.Finish(new(executor.Result))
		}
		return err
	}
	load := func(epoch uint32) error { return e.Load(&weights.Set{Epoch: epoch}) }
	for _, c := range []struct {
		what string
		err  error
		want error
	}{
		{"the first epoch", names(1), nil},
		{"one that is not loaded", names(2), executor.ErrContract},
		{"load it", load(2), nil},
		{"load it again", load(2), executor.ErrFull},
		{"a third", load(3), executor.ErrFull},
		{"the second", names(2), nil},
		{"drop the first", e.Drop(1), nil},
		{"drop it again", e.Drop(1), executor.ErrContract},
		{"the first, later", names(1), executor.ErrContract},
		{"load one twice", load(2), executor.ErrContract},
		{"the third, now", load(3), nil},
		{"close", e.Close(), nil},
		{"load after that", load(4), executor.ErrClosed},
	} {
		if !errors.Is(c.err, c.want) || c.want == nil && c.err != nil {
			t.Errorf("%s: %v, want %v", c.what, c.err, c.want)
		}
	}
}

// A set stays while a step that names it is unfinished.
func TestCheckDropOfAnEpochInUse(t *testing.T) {
	c := newCheckRun(t)
	if err := c.Load(2); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := c.start(executor.Batch{Epoch: 1}); err != nil {
			t.Fatal(err)
		}
	}
	c.Done(c.step - 1)
	if err := c.Drop(1); !errors.Is(err, executor.ErrContract) {
		t.Errorf("drop what step %d names: %v", c.step, err)
	}
	c.Done(c.step)
	c.bad(executor.Batch{Epoch: 2, Retire: []executor.Slot{0}}, executor.ErrContract)
	if err := errors.Join(c.Drop(1), c.Drop(2)); err != nil {
		t.Errorf("what no step names: %v", err)
	}
}
