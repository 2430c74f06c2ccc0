package executor_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/executor"
)

// TestAdapterPlaces takes all places, finds adapters that are loaded and no others, and takes a place again.
func TestAdapterPlaces(t *testing.T) {
	p := executor.NewAdapterPlaces(executor.NewChecker(executor.Info{MaxAdapters: 2}, 1))
	for i, name := range []string{"a", "b"} {
		if got, err := p.Take(name); got != i || err != nil || p.Find(name) != -1 {
			t.Fatalf("%s is in place %d (%v), and found in %d before it is loaded", name, got, err, p.Find(name))
		}
		if err := p.Loaded(i); err != nil || p.Find(name) != i {
			t.Errorf("%s is found in place %d (%v)", name, p.Find(name), err)
		}
	}
	if _, err := p.Take("c"); !errors.Is(err, executor.ErrAdapters) {
		t.Errorf("one too many: %v", err)
	}
	if err := p.Free("c"); !errors.Is(err, executor.ErrContract) {
		t.Errorf("free of nothing: %v", err)
	}
	if err := p.Free("a"); err != nil || p.Find("a") != -1 || p.Find("") != -1 {
		t.Errorf("a is free (%v), but found in %d, and no name in %d", err, p.Find("a"), p.Find(""))
	}
	if i, err := p.Take("c"); i != 0 || err != nil {
		t.Errorf("then c gets place %d (%v)", i, err)
	}
}

// TestAdapterOnItsWay asks for an adapter before it is in its place: no batch may have it, it cannot leave, and
// nobody else has its name or its place, unless it does not come.
func TestAdapterOnItsWay(t *testing.T) {
	check := executor.NewChecker(executor.Info{PageSize: 4, Groups: []executor.Group{{Blocks: 4}, {Blocks: 4}}, MaxSlots: 1, MaxTokens: 8, MaxContext: 8, Vocab: 9, MaxOutstanding: 1, MaxAdapters: 1}, 1)
	p := executor.NewAdapterPlaces(check)
	with := admit(0, 1)
	with.Adapter = "a"
	b := executor.Batch{Step: 1, Epoch: 1, Admit: []executor.Admit{with}}
	for range 2 {
		i, err := p.Take("a")
		if i != 0 || err != nil {
			t.Fatalf("a gets place %d (%v)", i, err)
		}
		if _, err := p.Take("a"); !errors.Is(err, executor.ErrContract) {
			t.Errorf("a second one of that name: %v", err)
		}
		if _, err := p.Take("b"); !errors.Is(err, executor.ErrAdapters) {
			t.Errorf("one too many: %v", err)
		}
		if err := p.Free("a"); !errors.Is(err, executor.ErrContract) {
			t.Errorf("it is freed on its way: %v", err)
		}
		if err := check.Check(&b); !errors.Is(err, executor.ErrContract) {
			t.Errorf("a batch has it on its way: %v", err)
		}
		p.Failed(i)
		if err := p.Free("a"); !errors.Is(err, executor.ErrContract) || p.Find("a") != -1 {
			t.Errorf("it is freed though it did not come (%v), and found in %d", err, p.Find("a"))
		}
	}
	if i, err := p.Take("b"); i != 0 || err != nil {
		t.Errorf("then b gets place %d (%v)", i, err)
	}
	p.Failed(0)
	if i, err := p.Take("a"); i != 0 || err != nil || p.Loaded(i) != nil {
		t.Fatalf("at last a gets place %d (%v)", i, err)
	}
	if err := check.Check(&b); err != nil {
		t.Errorf("a batch has it when it is there: %v", err)
	}
}

// TestSideBySide sorts rows by the places of their slots' adapters.
func TestSideBySide(t *testing.T) {
	places := []int{1, -1, 0, 1, -1, 0}
	var rows []executor.Row
	for s := range places {
		rows = append(rows, executor.Row{Slot: executor.Slot(s)})
	}
	got := executor.SideBySide(nil, rows, func(s executor.Slot) int { return places[s] })
	if want := []int32{1, 4, 2, 5, 0, 3}; !slices.Equal(got, want) {
		t.Errorf("the rows are %v, want %v", got, want)
	}
	got = executor.SideBySide(got, rows[:3], func(executor.Slot) int { return -1 })
	if want := []int32{0, 1, 2}; !slices.Equal(got, want) {
		t.Errorf("without adapters they are %v, want %v", got, want)
	}
}
