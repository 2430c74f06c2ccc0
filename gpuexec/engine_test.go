package gpuexec_test

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/rs/zerolog"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/cuda"
	"github.com/cbactor/cbactor/cuda/emu"
	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/gpuexec"
	"github.com/cbactor/cbactor/sampling"
	"github.com/cbactor/cbactor/weights"
)

// spawn starts an engine over an executor on the fake driver, whose cache holds a few requests.
func spawn(t *testing.T) (*engine.Engine, *emu.Driver) {
	t.Helper()
	c, err := checkpoint.Open(filepath.Join("..", "test", "testdata", "families", "llama"))
	if err != nil {
		t.Fatal(err)
	}
	set, err := weights.Load(c.Config, c, 1, "test")
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	driver := emu.Open(t, emu.Options{})
	dev, err := driver.Device(0)
	if err != nil {
		t.Fatal(err)
	}
	ex, err := gpuexec.New(gpuexec.Config{
		Device: dev, Model: c.Config, Weights: set, MaxMemory: 64 << 20, Graphs: gpuexec.Graphs{Varlen: true, Decode: true}, QPadding: 8,
		PageSize: 4, NumBlocks: 20, HostBlocks: 8, MaxSlots: 6, MaxTokens: 24, MaxContext: 64,
	})
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.Spawn(t.Context(), engine.Config{Executor: ex, Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	return e, driver
}

// TestEngine runs more requests than the cache holds, with a pause that keeps them and with one that is
// cancelled in the middle: the others have the tokens that each has alone.
func TestEngine(t *testing.T) {
	e, _ := spawn(t)
	defer func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}()
	requests := make([]engine.Request, 10)
	for i := range requests {
		seed := uint64(i)
		r := engine.Request{MaxNewTokens: 6 + i%5, Seed: &seed}
		for j := range 2 + 5*i%17 {
			r.PromptIDs = append(r.PromptIDs, int32((7*i+13*j)%200))
		}
		if i%2 == 1 {
			r.Sampling = sampling.Params{Temperature: 1, TopK: 30}
		}
		if i%5 == 4 {
			r.Sampling.RepetitionPenalty = 1.3
		}
		requests[i] = r
	}
	var want [][]int32
	for _, r := range requests {
		out, err := e.GenerateBatch(t.Context(), []engine.Request{r}, engine.BatchOptions{})
		if err != nil || out[0].Err != nil || len(out[0].TokenIDs) != r.MaxNewTokens {
			t.Fatalf("%+v: %v", out, err)
		}
		want = append(want, out[0].TokenIDs)
	}
	begun := make(chan bool, 1)
	victim := engine.Request{ID: "victim", PromptIDs: []int32{1, 2, 3}, MaxNewTokens: 40, Streaming: true, Handler: func(engine.Chunk) {
		select {
		case begun <- true:
		default:
		}
	}}
	if _, err := e.AddRequest(t.Context(), victim); err != nil {
		t.Fatal(err)
	}
	paused := make(chan error, 1)
	go func() {
		<-begun
		hold, err := e.Pause(t.Context(), engine.PauseOptions{})
		if err == nil {
			e.Cancel("victim")
			err = hold.Release("")
		}
		paused <- err
	}()
	outs, err := e.GenerateBatch(t.Context(), requests, engine.BatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := <-paused; err != nil {
		t.Error(err)
	}
	for i, out := range outs {
		if out.Err != nil || !slices.Equal(out.TokenIDs, want[i]) {
			t.Errorf("request %d gives %v (%v), alone %v", i, out.TokenIDs, out.Err, want[i])
		}
	}
}

// TestDeviceIsLostUnderRequests loses the device while requests decode: all end with an error that says so, and
// so do those that come later. The process goes on.
func TestDeviceIsLostUnderRequests(t *testing.T) {
	emu.Only(t, "the device is lost on purpose")
	e, driver := spawn(t)
	streams := make([]*engine.Stream, 4)
	for i := range streams {
		r := engine.Request{PromptIDs: []int32{1, 2, int32(i)}, MaxNewTokens: 60, IgnoreEOS: true, Streaming: true}
		var err error
		if streams[i], err = e.AddRequest(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := streams[0].Recv(t.Context()); err != nil {
		t.Fatal(err)
	}
	driver.Fail(700) // CUDA_ERROR_ILLEGAL_ADDRESS
	for i, s := range streams {
		if out := s.Wait(t.Context()); !errors.Is(out.Err, cuda.ErrDeviceLost) {
			t.Errorf("request %d ends with %v", i, out.Err)
		}
	}
	if _, err := e.AddRequest(t.Context(), engine.Request{PromptIDs: []int32{1}}); !errors.Is(err, cuda.ErrDeviceLost) {
		t.Errorf("a later request: %v", err)
	}
	if err := e.Close(); !errors.Is(err, cuda.ErrDeviceLost) {
		t.Errorf("Close says %v", err)
	}
}
