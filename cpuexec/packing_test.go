package cpuexec

import (
	"bytes"
	"testing"
	"time"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/weights"
)

// TestPackedBySteps loads a set while a step is handed over: nothing is packed before
// it, and steps pack all. Then another set lies where it was. What is derived equals that
// of a fresh executor, paddings too.
func TestPackedBySteps(t *testing.T) {
	path := family("llama")
	m, first := loadModel(t, path)
	for _, threads := range []int{1, 2} {
		e := start(t, Config{Model: m, Weights: first, Threads: threads, MaxContext: 64, WeightSets: 2})
		e.step.threads = threads // as of a step that was shared
		load := func(step uint64, set *weights.Set) {
			t.Helper()
			if err := e.Start(&executor.Batch{Step: step, Epoch: 1}); err != nil {
				t.Fatal(err)
			}
			loaded := make(chan error)
			go func() { loaded <- e.Load(t.Context(), set) }()
			for e.beside.Load() == nil {
				time.Sleep(time.Millisecond)
			}
			p := e.beside.Load()
			if n := p.taken.Load(); n > 0 {
				t.Errorf("%d panels were packed beside a step", n)
			}
			e.took = time.Minute
			if err := e.Finish(&executor.Result{}); err != nil {
				t.Fatal(err)
			}
			if !p.over() {
				t.Errorf("a step packed %d panels of %d", p.taken.Load(), p.count())
			}
			if err := <-loaded; err != nil {
				t.Fatal(err)
			}
		}
		load(1, altered(t, path, 2))
		if err := e.Drop(2); err != nil {
			t.Fatal(err)
		}
		load(2, loaded(t, path, 3))
		if got, want := e.weightsOf(3), e.weightsOf(1); !bytes.Equal(got.area.mem, want.area.mem) {
			t.Error("what is derived by steps, over another set, differs from what is derived at the start")
		}
	}
}

// TestStopPacking fills panels on two threads while it is stopped: whoever has taken one
// is waited for.
func TestStopPacking(t *testing.T) {
	m, set := loadModel(t, "tiny")
	e := start(t, Config{Model: m, Weights: set, Threads: 1, MaxContext: 64})
	for range 20 {
		a, err := newArea("weights", e.memory.Weights, true)
		if err != nil {
			t.Fatal(err)
		}
		_, p, err := e.layOut(a, set)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			go func() {
				for tile := make([]float32, tileLen); p.one(tile); {
				}
			}()
		}
		for p.taken.Load() == 0 {
			time.Sleep(time.Microsecond)
		}
		p.stop()
		if err := a.free(); err != nil { // a fault, if somebody still writes
			t.Fatal(err)
		}
	}
}
