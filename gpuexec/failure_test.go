package gpuexec

import (
	"errors"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/cuda"
	"github.com/cbactor/cbactor/cuda/emu"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/internal/familytest"
)

const illegalAddress = 700 // a result of the driver

// TestDeviceIsLost loses the device under a step: it fails, so do those behind it, and nothing hangs.
func TestDeviceIsLost(t *testing.T) {
	emu.Only(t, "it is told to fail")
	m, set := loadModel(t, family("llama"))
	driver := emu.Open(t, emu.Options{})
	e, err := New(Config{Device: device(t, driver), Model: m, Weights: set, MaxMemory: 32 << 20, MaxContext: 64, MaxTokens: 32, MaxSlots: 2})
	if err != nil {
		t.Fatal(err)
	}
	first := executor.Batch{
		Step: 1, Epoch: 1,
		Admit:  []executor.Admit{{IDs: []int32{1, 2}, PromptLen: 2, Parent: executor.NoSlot}},
		Tables: []executor.Table{{Blocks: []int32{0}}},
		Rows:   []executor.Row{{Count: 2, Sample: true, Mask: -1}},
	}
	var r executor.Result
	for step := uint64(1); step <= 3; step++ {
		b := executor.Batch{Step: step, Epoch: 1}
		if step == 1 {
			b = first
		}
		if step == 2 {
			driver.Fail(illegalAddress)
		}
		if err := errors.Join(e.Start(&b), e.Finish(&r)); err != nil {
			t.Fatal(err)
		}
		if lost := errors.Is(r.Err, cuda.ErrDeviceLost); lost != (step > 1) || step == 1 && r.Err != nil {
			t.Errorf("step %d: %v", step, r.Err)
		}
	}
	if err := e.Close(); !errors.Is(err, cuda.ErrDeviceLost) {
		t.Errorf("Close says %v", err)
	}
}

// TestPanicsAreErrors lets a launch panic: its step fails, and nothing hangs.
func TestPanicsAreErrors(t *testing.T) {
	m, set := loadModel(t, family("llama"))
	e := start(t, Config{Device: emulated(t), Model: m, Weights: set, MaxMemory: 32 << 20, MaxContext: 64, MaxTokens: 32, MaxSlots: 2})
	e.input = nil
	var r executor.Result
	for step := uint64(1); step <= 2; step++ {
		if err := errors.Join(e.Start(&executor.Batch{Step: step, Epoch: 1}), e.Finish(&r)); err != nil {
			t.Fatal(err)
		}
		if !errors.Is(r.Err, ErrPanic) || !strings.Contains(r.Err.Error(), "step 1") {
			t.Errorf("step %d: %v", step, r.Err)
		}
	}
	if !e.state.TryLock() {
		t.Fatal("the state of sequences stays locked")
	}
	e.state.Unlock()
}

// TestCloseBehindAGraph fails a step whose graph is enqueued, and closes the executor, which waits for that
// before it gives the graph back.
func TestCloseBehindAGraph(t *testing.T) {
	emu.Only(t, "its work is late")
	m, set := loadModel(t, family("llama"))
	e := start(t, Config{Device: emulated(t), Model: m, Weights: set, MaxMemory: 32 << 20, MaxContext: 64, MaxTokens: 32, MaxSlots: 2, Graphs: all})
	done := e.steps[0].done
	e.steps[0].done = nil
	var r executor.Result
	err := errors.Join(e.Start(&executor.Batch{
		Step: 1, Epoch: 1,
		Admit:  []executor.Admit{{IDs: []int32{1, 2}, PromptLen: 2, Parent: executor.NoSlot}},
		Tables: []executor.Table{{Blocks: []int32{0}}},
		Rows:   []executor.Row{{Count: 2, Sample: true, Mask: -1}},
	}), e.Finish(&r))
	if err != nil || !errors.Is(r.Err, ErrPanic) || len(e.shapes.of) != 1 {
		t.Fatalf("%v, the step failed with %v, %d graphs are there", err, r.Err, len(e.shapes.of))
	}
	e.steps[0].done = done
}

// TestPanicEndsCapture lets a launch panic while a graph is captured: the stream works afterwards.
func TestPanicEndsCapture(t *testing.T) {
	m, set := loadModel(t, family("llama"))
	e := start(t, Config{Device: emulated(t), Model: m, Weights: set, MaxMemory: 32 << 20, MaxContext: 64, MaxTokens: 32, MaxSlots: 2, Graphs: all})
	err := e.besides(func() error {
		_, err := e.capture(&step{tokens: 1, items: 1, segments: 1}) // without weights
		return errors.Join(err, e.compute.Synchronize())
	})
	if !errors.Is(err, ErrPanic) || strings.Contains(err.Error(), "CUDA_ERROR") {
		t.Errorf("%v", err)
	}
}

// TestWakeOfAClosedExecutor ends a copy of weights as Close does.
func TestWakeOfAClosedExecutor(t *testing.T) {
	m, set := loadModel(t, family("llama"))
	e := start(t, Config{Device: emulated(t), Model: m, Weights: set, MaxMemory: 32 << 20, MaxContext: 64, MaxTokens: 32, MaxSlots: 2})
	if err := e.Sleep(false, true); err != nil {
		t.Fatal(err)
	}
	e.die()
	if err := e.Wake(); !errors.Is(err, executor.ErrClosed) {
		t.Errorf("Wake says %v", err)
	}
}

// TestAdapterThatDoesNotCome ends a copy of an adapter: it is not loaded, and leaves its name.
func TestAdapterThatDoesNotCome(t *testing.T) {
	m, set := loadModel(t, family("llama"))
	e := start(t, Config{Device: emulated(t), Model: m, Weights: set, MaxMemory: 32 << 20, MaxContext: 64, MaxTokens: 32, MaxSlots: 2, MaxAdapters: 1})
	e.die()
	for range 2 {
		if err := e.LoadAdapter("a", familytest.Adapter(m, 1, 8, familytest.Everywhere)); !errors.Is(err, executor.ErrClosed) {
			t.Errorf("LoadAdapter says %v", err)
		}
		if err := e.UnloadAdapter("a"); !errors.Is(err, executor.ErrContract) || e.adapters.find("a") != nil {
			t.Errorf("UnloadAdapter says %v", err)
		}
	}
}

// TestNewWithoutRoom has a device that cannot hold what is planned: somebody else has it.
func TestNewWithoutRoom(t *testing.T) {
	m, set := loadModel(t, family("llama"))
	driver := emu.Open(t, emu.Options{Memory: 4 << 20})
	_, err := New(Config{Device: device(t, driver), Model: m, Weights: set, MaxMemory: 64 << 20, MaxContext: 512, MaxTokens: 2048})
	if !errors.Is(err, executor.ErrMemory) || !errors.Is(err, cuda.ErrOutOfMemory) {
		t.Errorf("New says %v", err)
	}
	if c := driver.Counts(); c.Allocations != 0 || c.Handles != 0 {
		t.Errorf("%+v is left behind", c)
	}
}
