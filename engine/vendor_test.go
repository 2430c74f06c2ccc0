package engine

import (
	"errors"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/cuda/cublaslt"
	"github.com/cbactor/cbactor/cuda/emu"
)

// TestBatchMayMatter has NVIDIA's library of products used where it is asked for, and says what to do
// where there is none: no other device makes up for it.
func TestBatchMayMatter(t *testing.T) {
	driver := withGPU(t, emu.Options{})
	no := false
	cfg := Config{Checkpoint: openLlama(t), MaxContext: 128, MaxRequestsPerBatch: 2, MaxBatchTokens: 100, BatchInvariant: &no}
	t.Setenv(cublaslt.PathVariable, t.TempDir())
	for _, device := range []Device{AnyDevice, FirstGPU} {
		cfg.Device = device
		_, err := resolve(cfg, plenty)
		if !errors.Is(err, ErrDevice) || !errors.Is(err, cublaslt.ErrUnavailable) || !strings.Contains(err.Error(), "batch_invariant is false (the program)") || !strings.Contains(err.Error(), "pip install nvidia-cublas") {
			t.Errorf("%s without the library: %v", device, err)
		}
	}
	fake := driver.CublasLt(t)
	t.Setenv(cublaslt.PathVariable, fake.Path)
	e, err := Spawn(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	prompt := make([]int32, 100)
	for i := range prompt {
		prompt[i] = int32(i*7%150) + 3
	}
	before := fake.Products()
	out, err := e.GenerateBatch(t.Context(), []Request{{PromptIDs: prompt, MaxNewTokens: 2}}, BatchOptions{})
	if err != nil || out[0].Err != nil || len(out[0].TokenIDs) != 2 {
		t.Errorf("%+v (%v)", out, err)
	}
	if want, got := 4*cfg.Checkpoint.Config.Layers, fake.Products()-before; got != want {
		t.Errorf("%d products were the library's, want %d", got, want)
	}
	if name := e.Info().Executor; !strings.HasSuffix(name, " cublasLt") {
		t.Errorf("the executor is called %s", name)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	cfg.Record = &traceFile{}
	if _, err := resolve(cfg, plenty); !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), "batch_invariant is false") {
		t.Errorf("a record of what depends on the batch: %v", err)
	}
	cfg.Device = AnyDevice // the CPU's never does: no second notice says that this has no effect there
	if r, err := resolve(cfg, plenty); err != nil || len(r.Notices) != 1 || !strings.Contains(r.Notices[0], "cuda:0 is passed over: batch_invariant is false (the program)") {
		t.Errorf("a record wherever it can be made: %v, notices %q", err, r.Notices)
	}
}
