package executor_test

import (
	"errors"
	"testing"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/weights"
)

func TestPlaces(t *testing.T) {
	c, err := checkpoint.Open(checkpoint.Embedded)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() }) // it is in memory
	var sets [3]*weights.Set
	for i := range sets {
		if sets[i], err = weights.Load(c.Config, c, uint32(i+1), "test"); err != nil {
			t.Fatal(err)
		}
	}
	one, two, three := sets[0], sets[1], sets[2]
	again := *one // as a rollback gives it
	again.Epoch = 4
	l := make(executor.Places[string, int], 2)
	l[0].Memory, l[1].Memory = "first", "second"
	at := func(set *weights.Set, ready int) *executor.Place[string, int] {
		p, err := l.For(set)
		if err != nil {
			t.Fatal(err)
		}
		p.Hold(set, &ready)
		return p
	}
	first, second := at(one, 10), at(two, 20)
	if first == second || *l.Of(1) != 10 || *l.Of(2) != 20 {
		t.Fatalf("%+v", l)
	}
	if _, err := l.For(three); !errors.Is(err, executor.ErrFull) {
		t.Errorf("a third set: %v", err)
	}
	if p, err := l.For(&again); err != nil || p != first {
		t.Fatalf("the same tensors lie at %p, not at %p (%v)", p, first, err)
	}
	first.Hold(&again, first.Ready)
	l.Drop(1)
	if *l.Of(4) != 10 || first.Set == nil {
		t.Errorf("what two epochs have is gone with the first: %+v", first)
	}
	memory := first.Memory
	l.Drop(4)
	if first.Set != nil || first.Ready != nil || first.Memory != memory {
		t.Errorf("a free place is %+v", first)
	}
	if p, err := l.For(three); err != nil || p != first {
		t.Errorf("another set goes to %+v (%v)", p, err)
	}
}
