package executor_test

import (
	"errors"
	"testing"

	"github.com/cbactor/cbactor/executor"
)

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
