package gpuexec_test

import (
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

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

// gate holds up the step in which a request draws its third token.
type gate struct {
	once          sync.Once
	reached, open chan struct{}
}

func newGate() *gate { return &gate{reached: make(chan struct{}), open: make(chan struct{})} }

// Process implements sampling.Processor.
func (g *gate) Process(ids []int32, prompt int, _ []float32) error {
	if len(ids) == prompt+2 {
		g.once.Do(func() {
			close(g.reached)
			<-g.open
		})
	}
	return nil
}

// reach waits until a request is held, and answers where its end will be.
func (g *gate) reach(t *testing.T, s *engine.Stream) <-chan engine.Output {
	t.Helper()
	ended := make(chan engine.Output, 1)
	go func() { ended <- s.Wait(t.Context()) }()
	select {
	case <-g.reached:
	case out := <-ended:
		t.Fatalf("it ends before it is held: %+v", out)
	}
	return ended
}

// until waits for what comes by itself.
func until(come func() bool) {
	for !come() {
		time.Sleep(time.Millisecond)
	}
}

// TestEngine runs more requests than the cache holds, with a pause that keeps them, in which one is cancelled:
// the others have the tokens that each has alone.
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
		r := engine.Request{MaxNewTokens: 12 + i%5, Seed: &seed}
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
	begin, err := e.Pause(t.Context(), engine.PauseOptions{}) // until all are there
	if err != nil {
		t.Fatal(err)
	}
	held := newGate()
	victim, err := e.AddRequest(t.Context(), engine.Request{
		ID: "victim", PromptIDs: []int32{1, 2, 3}, MaxNewTokens: 40, IgnoreEOS: true, Sampling: sampling.Params{Processor: held},
	})
	if err != nil {
		t.Fatal(err)
	}
	var outs []engine.Output
	batch := make(chan error, 1)
	go func() {
		var err error
		outs, err = e.GenerateBatch(t.Context(), requests, engine.BatchOptions{})
		batch <- err
	}()
	until(func() bool { return e.Metrics().Accepted == int64(2*len(requests)+1) })
	if err := begin.Release(""); err != nil {
		t.Fatal(err)
	}
	ended := held.reach(t, victim)
	paused := make(chan error, 1)
	go func() {
		hold, err := e.Pause(t.Context(), engine.PauseOptions{})
		if err == nil {
			e.Cancel("victim")
			err = hold.Release("")
		}
		paused <- err
	}()
	until(func() bool { return e.Status().Mode == "pausing" })
	close(held.open)
	if err := errors.Join(<-paused, <-batch); err != nil {
		t.Fatal(err)
	}
	if out := <-ended; out.FinishReason != engine.FinishCancelled || len(out.TokenIDs) < 2 {
		t.Errorf("the victim ends with %v: %v (%v)", out.FinishReason, out.TokenIDs, out.Err)
	}
	if e.Metrics().Preemptions == 0 {
		t.Error("the cache had room for all: nothing is shown")
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
	hold, err := e.Pause(t.Context(), engine.PauseOptions{}) // until all are there, which begin together
	if err != nil {
		t.Fatal(err)
	}
	held, streams := newGate(), make([]*engine.Stream, 4)
	for i := range streams {
		r := engine.Request{PromptIDs: []int32{1, 2, int32(i)}, MaxNewTokens: 60, IgnoreEOS: true}
		if i == 0 {
			r.Sampling.Processor = held
		}
		if streams[i], err = e.AddRequest(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	if err := hold.Release(""); err != nil {
		t.Fatal(err)
	}
	first := held.reach(t, streams[0])
	driver.Fail(700) // CUDA_ERROR_ILLEGAL_ADDRESS
	close(held.open)
	if out := <-first; !errors.Is(out.Err, cuda.ErrDeviceLost) {
		t.Errorf("the request that was held ends with %v", out.Err)
	}
	for i, s := range streams[1:] {
		if out := s.Wait(t.Context()); !errors.Is(out.Err, cuda.ErrDeviceLost) {
			t.Errorf("request %d ends with %v", i+1, out.Err)
		}
	}
	if _, err := e.AddRequest(t.Context(), engine.Request{PromptIDs: []int32{1}}); !errors.Is(err, cuda.ErrDeviceLost) {
		t.Errorf("a later request: %v", err)
	}
	if err := e.Close(); err != nil && !errors.Is(err, cuda.ErrDeviceLost) { // nil: it was told with the last step
		t.Errorf("Close says %v", err)
	}
}
