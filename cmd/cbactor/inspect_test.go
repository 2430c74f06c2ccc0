package main

import (
	"testing"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/engine"
)

// What is shown of an engine that is not started is what it has when it is.
func TestPlanIsWhatAnEngineHas(t *testing.T) {
	model, err := checkpoint.Open(checkpoint.Embedded)
	if err != nil {
		t.Fatal(err)
	}
	for _, cfg := range []engine.Config{
		{Compute: "auto", Seed: 1, Threads: 2},
		{Compute: "f32", Seed: 2, Threads: 1, PageSize: 16, NumBlocks: 100, MaxBatchTokens: 20, MaxRequestsPerBatch: 30, MaxContext: 500, MaxQueueSize: 7},
	} {
		cfg.Checkpoint = model
		r, err := engine.Resolve(cfg)
		if err != nil {
			t.Fatal(err)
		}
		planned, err := r.Info()
		if err != nil {
			t.Fatal(err)
		}
		e, err := engine.Spawn(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := showEngine(planned), showEngine(e.Info()); got != want {
			t.Errorf("planned %+v, an engine has %+v", got, want)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}
