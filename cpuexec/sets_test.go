package cpuexec

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/weights"
)

// altered is another set of a model.
func altered(t testing.TB, path string, epoch uint32) *weights.Set {
	t.Helper()
	return flipped(t, path, epoch, 3)
}

// flipped is the set of a model with the other sign of every so many of its numbers.
func flipped(t testing.TB, path string, epoch uint32, every int) *weights.Set {
	t.Helper()
	set := loaded(t, path, epoch)
	for tensor := range set.All() {
		size := tensor.DType.RowBytes(1)
		for i := size - 1; i < len(tensor.Data); i += every * size {
			tensor.Data[i] ^= 0x80
		}
	}
	return set
}

// TestSetsByEpoch computes with two sets in turn: what is derived of each equals that
// of an executor of its own, to the bit, and so do the logits.
func TestSetsByEpoch(t *testing.T) {
	m, first := loadModel(t, "tiny")
	second := altered(t, "tiny", 2)
	d := newDriver(t, Config{Model: m, Weights: first, Threads: 2, MaxContext: 64, WeightSets: 2}, 64, true)
	fresh := newDriver(t, Config{Model: m, Weights: altered(t, "tiny", 1), Threads: 1, MaxContext: 64}, 64, true)
	if err := d.e.Load(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	if got, want := d.e.weightsOf(2), fresh.e.weightsOf(1); !bytes.Equal(got.area.mem, want.area.mem) {
		t.Error("what is derived differs from a fresh executor's")
	}
	var runs []*sequence
	for _, c := range []struct {
		*driver
		epoch uint32
	}{{d, 1}, {d, 2}, {fresh, 1}} {
		s := &sequence{ids: []int32{0, 327, 329}, limit: 8}
		c.driver.epoch = c.epoch
		c.run(s)
		runs = append(runs, s)
	}
	if slices.Equal(runs[0].out(), runs[1].out()) {
		t.Error("both sets give the same tokens: the test shows nothing")
	}
	if !slices.Equal(runs[1].out(), runs[2].out()) || !slices.EqualFunc(runs[1].logits, runs[2].logits, slices.Equal) {
		t.Errorf("%v in epoch 2, %v of an executor of its own", runs[1].out(), runs[2].out())
	}
}

// TestPlaces loads what is no set of the model, and what is there already.
func TestPlaces(t *testing.T) {
	m, first := loadModel(t, "tiny")
	e := start(t, Config{Model: m, Weights: first, Threads: 1, MaxContext: 64, WeightSets: 2})
	second := altered(t, "tiny", 2)
	again := *first // as a rollback gives it
	again.Epoch = 3
	llama, _ := loadModel(t, family("llama"))
	_, foreign := loadModel(t, family("llama"))
	packed := e.weightsOf(1)
	for _, c := range []struct {
		what string
		err  error
		want error
	}{
		{"another model's", e.Load(t.Context(), foreign), ErrConfig},
		{"no set", e.Load(t.Context(), nil), ErrConfig},
		{"the second", e.Load(t.Context(), second), nil},
		{"the first again", e.Load(t.Context(), &again), nil},
		{"the first epoch", e.Drop(1), nil},
	} {
		if !errors.Is(c.err, c.want) || c.want == nil && c.err != nil {
			t.Errorf("%s: %v, want %v", c.what, c.err, c.want)
		}
	}
	if e.weightsOf(3) != packed {
		t.Error("a set that was there is packed again")
	}
	if _, err := New(Config{Model: llama, Weights: foreign, WeightSets: 3}); !errors.Is(err, ErrConfig) {
		t.Errorf("three places: %v", err)
	}
}

// TestLoadEndsWithItsContext gives a set up while it is being packed: the next one finds
// the place as it was.
func TestLoadEndsWithItsContext(t *testing.T) {
	m, first := loadModel(t, "tiny")
	e := start(t, Config{Model: m, Weights: first, Threads: 1, MaxContext: 64, WeightSets: 2})
	if err := e.Start(&executor.Batch{Step: 1, Epoch: 1}); err != nil { // so that the load waits
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	loaded := make(chan error)
	go func() { loaded <- e.Load(ctx, altered(t, "tiny", 2)) }()
	for e.beside.Load() == nil {
		time.Sleep(time.Millisecond)
	}
	cancel()
	if err := <-loaded; !errors.Is(err, context.Canceled) {
		t.Errorf("packed: %v", err)
	}
	if err := e.Finish(&executor.Result{}); err != nil {
		t.Fatal(err)
	}
	if err := e.Load(t.Context(), altered(t, "tiny", 2)); err != nil {
		t.Errorf("loaded again: %v", err)
	}
}

// TestLoadEndsWithTheExecutor closes it while a set is being packed.
func TestLoadEndsWithTheExecutor(t *testing.T) {
	m, first := loadModel(t, "tiny")
	e := start(t, Config{Model: m, Weights: first, Threads: 1, MaxContext: 64, WeightSets: 2})
	if err := e.Start(&executor.Batch{Step: 1, Epoch: 1}); err != nil { // so that the load waits
		t.Fatal(err)
	}
	loaded := make(chan error)
	go func() { loaded <- e.Load(t.Context(), altered(t, "tiny", 2)) }()
	for e.beside.Load() == nil {
		time.Sleep(time.Millisecond)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-loaded; !errors.Is(err, executor.ErrClosed) {
		t.Errorf("packed: %v", err)
	}
	if err := e.Load(t.Context(), altered(t, "tiny", 2)); !errors.Is(err, executor.ErrClosed) {
		t.Errorf("loaded: %v", err)
	}
	if err := e.Drop(1); !errors.Is(err, executor.ErrClosed) {
		t.Errorf("dropped: %v", err)
	}
	if err := e.Finish(&executor.Result{}); err != nil {
		t.Error(err)
	}
}
