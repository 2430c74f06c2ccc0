package gpuexec

import (
	"errors"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/cuda"
	"github.com/cbactor/cbactor/cuda/emu"
	"github.com/cbactor/cbactor/executor"
)

// TestCloseBesideALoad closes an executor while something runs beside its steps, which is the last to use it:
// that tells what could not be given back.
func TestCloseBesideALoad(t *testing.T) {
	emu.Only(t, "the device is lost on purpose")
	m, set := loadModel(t, family("llama"))
	driver := emu.Open(t, emu.Options{})
	e, err := New(Config{Device: device(t, driver), Model: m, Weights: set, MaxMemory: 32 << 20, MaxContext: 64, MaxTokens: 32, MaxSlots: 2})
	if err != nil {
		t.Fatal(err)
	}
	own := errors.New("the caller's own")
	err = e.besides(func() error {
		if err := e.Close(); err != nil {
			t.Errorf("Close says %v, with a load under way", err)
		}
		driver.Fail(illegalAddress)
		return own
	})
	if !errors.Is(err, own) || !errors.Is(err, cuda.ErrDeviceLost) {
		t.Errorf("the load says %v", err)
	}
}

// TestWakeWithoutRoom sleeps, and finds its memory taken by somebody else: it sleeps on, and wakes when that
// is gone.
func TestWakeWithoutRoom(t *testing.T) {
	m, set := loadModel(t, family("llama"))
	c := graphed(nil, m, set, all)
	plan, err := Plan(c)
	if err != nil {
		t.Fatal(err)
	}
	c.Device = device(t, emu.Open(t, emu.Options{Memory: uint64(plan.Device() + 1000)}))
	e := start(t, c)
	want := crowd(t, e, 0)
	if err := e.Sleep(true, true); err != nil {
		t.Fatal(err)
	}
	var other cuda.Pointer
	if err := e.besides(func() (err error) { other, err = e.ctx.Alloc(int(plan.KV + plan.Graphs)); return err }); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := e.Wake(); !errors.Is(err, executor.ErrMemory) || !errors.Is(err, cuda.ErrOutOfMemory) {
			t.Errorf("Wake says %v", err)
		}
		if err := e.Start(&executor.Batch{Step: 100, Epoch: 1}); !errors.Is(err, executor.ErrContract) {
			t.Errorf("a step of who sleeps: %v", err)
		}
	}
	if err := errors.Join(e.besides(func() error { return e.ctx.Free(other) }), e.Wake()); err != nil {
		t.Fatal(err)
	}
	if got := crowd(t, e, 100); !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("after sleep %v, before %v", got, want)
	}
}
