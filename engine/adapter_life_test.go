package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cbactor/cbactor/executor"
)

// adapterGolden is what Transformers and PEFT generate.
type adapterGolden struct {
	Prompts [][]int32
	Greedy  [][]int32
	MinGap  []float64 `json:"min_gap"`
}

func readGolden(t *testing.T, folder fs.FS) (g adapterGolden) {
	t.Helper()
	js, err := fs.ReadFile(folder, "golden.json")
	if err == nil {
		err = json.Unmarshal(js, &g)
	}
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// An adapter that is unloaded takes nobody new, stays for who has it, be it that they wait
// for the only slot, and is gone when they are; its place is another's then, its name nobody's.
func TestUnloadWaitsForTheLastUser(t *testing.T) {
	gate := make(chan struct{})
	e := spawnAdapters(t, executor.EchoConfig{Blocks: 64, Slots: 1, Adapters: 1, Outstanding: 2, Delay: func(*executor.Batch) { <-gate }}, Config{}, "a")
	first, err := e.AddRequest(t.Context(), Request{PromptIDs: ids(10, 2), MaxNewTokens: 5})
	if err != nil {
		t.Fatal(err)
	}
	r := Request{PromptIDs: ids(40, 1), MaxNewTokens: 30, Adapter: "a", N: 3, IgnoreEOS: true}
	s, err := e.AddRequest(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := e.UnloadAdapter(short, "a"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("while it is in use: %v", err)
	}
	if _, err := e.AddRequest(t.Context(), r); !errors.Is(err, ErrUnknownAdapter) {
		t.Errorf("a new user: %v", err)
	}
	if err := e.LoadAdapter(t.Context(), "b", peft("bf16")); !errors.Is(err, ErrAdapters) {
		t.Errorf("its place: %v", err)
	}
	if len(e.Adapters()) != 0 {
		t.Errorf("loaded are %+v", e.Adapters())
	}
	close(gate)
	if out := first.Wait(t.Context()); out.Err != nil {
		t.Error(out.Err)
	}
	for _, s := range append(s.Children(), s) {
		wantEcho(t, s.ID(), r, s.Wait(t.Context()))
	}
	err = ErrAdapters
	for began := time.Now(); errors.Is(err, ErrAdapters) && time.Since(began) < 5*time.Second; time.Sleep(time.Millisecond) {
		err = e.LoadAdapter(t.Context(), "b", peft("bf16")) // the place is free soon
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := e.LoadAdapter(t.Context(), "a", peft("bf16")); !errors.Is(err, ErrAdapterName) {
		t.Errorf("its name: %v", err)
	}
	r.Adapter = "b"
	wantEcho(t, "b", r, generateOne(t, e, r))
	if err := e.UnloadAdapter(t.Context(), "b"); err != nil {
		t.Error(err)
	}
}

// Loads, requests, cancels and unloads at the same time, as in a training loop that keeps
// two versions: every request that is accepted has the tokens of its adapter, and nothing
// crashes.
func TestAdapterStorm(t *testing.T) {
	e := spawnAdapters(t, executor.EchoConfig{Blocks: 60, Adapters: 3, Outstanding: 2}, Config{}, "0")
	const versions = 60
	var newest atomic.Int64
	var wait sync.WaitGroup
	done := make(chan struct{})
	for w := range 8 {
		wait.Go(func() {
			random := rand.New(rand.NewPCG(uint64(w), 1))
			for i := 0; ; i++ {
				select {
				case <-done:
					return
				default:
				}
				r := Request{PromptIDs: ids(3+random.IntN(60), i%5), MaxNewTokens: 1 + random.IntN(20), Adapter: fmt.Sprint(newest.Load() - int64(random.IntN(2))), IgnoreEOS: true}
				ctx, cancel := context.WithCancel(t.Context())
				s, err := e.AddRequest(ctx, r)
				if err != nil {
					cancel()
					if !errors.Is(err, ErrUnknownAdapter) {
						t.Errorf("AddRequest: %v", err)
					}
					continue
				}
				if i%3 == 0 {
					cancel()
				}
				if out := s.Wait(t.Context()); out.FinishReason != FinishCancelled {
					wantEcho(t, r.Adapter, r, out)
				}
				cancel()
			}
		})
	}
	for v := 1; v <= versions; v++ {
		if v > 1 {
			if err := e.UnloadAdapter(t.Context(), fmt.Sprint(v-2)); err != nil {
				t.Errorf("unload: %v", err)
			}
		}
		if err := e.LoadAdapter(t.Context(), fmt.Sprint(v), peft("bf16")); err != nil {
			t.Errorf("load: %v", err)
		}
		newest.Store(int64(v))
	}
	close(done)
	wait.Wait()
	if list := e.Adapters(); len(list) != 2 {
		t.Errorf("loaded are %+v", list)
	}
}

// A stop that keeps the executor keeps its adapters; one that does not loses them, with
// their names.
func TestAdaptersLiveAsLongAsTheirExecutor(t *testing.T) {
	e, err := Spawn(t.Context(), Config{Checkpoint: openLlama(t), MaxAdapters: 1, Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}()
	again := func(keep bool) {
		t.Helper()
		if err := e.Stop(t.Context(), StopOptions{Keep: keep}); err != nil {
			t.Fatal(err)
		}
		if n := len(e.Adapters()); (n == 1) != keep {
			t.Errorf("stopped, kept %t: %d adapters", keep, n)
		}
		if err := e.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	r := Request{PromptIDs: []int32{5, 6, 7}, MaxNewTokens: 4, Adapter: "a", IgnoreEOS: true}
	if err := e.LoadAdapter(t.Context(), "a", peft("patterns")); err != nil {
		t.Fatal(err)
	}
	want := generateOne(t, e, r)
	again(true)
	if out := generateOne(t, e, r); fmt.Sprint(out.TokenIDs) != fmt.Sprint(want.TokenIDs) {
		t.Errorf("kept: %v, want %v", out.TokenIDs, want.TokenIDs)
	}
	again(false)
	if _, err := e.AddRequest(t.Context(), r); !errors.Is(err, ErrUnknownAdapter) {
		t.Errorf("not kept: %v", err)
	}
	if err := e.LoadAdapter(t.Context(), "a", peft("patterns")); err != nil {
		t.Fatal(err)
	}
	if out := generateOne(t, e, r); fmt.Sprint(out.TokenIDs) != fmt.Sprint(want.TokenIDs) {
		t.Errorf("loaded again: %v, want %v", out.TokenIDs, want.TokenIDs)
	}
}
