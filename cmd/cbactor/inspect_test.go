package main

import (
	"bytes"
	"strings"
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

// What is told of sampling and of where text begins is what files say and the tokenizer does.
func TestModelAsItIs(t *testing.T) {
	model, err := checkpoint.Open(checkpoint.Embedded)
	if err != nil {
		t.Fatal(err)
	}
	if s := showModel("m", model).String(); !strings.Contains(s, "text begins with token 0 and ends") || !strings.Contains(s, "top-p 0.9, as its authors recommend\n") {
		t.Error(s)
	}
	if puts := bytes.Count(model.TokenizerJSON, []byte(`"post_processor"`)); puts != 1 {
		t.Fatalf("the tokenizer has %d processors", puts)
	}
	model.AddBOS, model.Generation = nil, checkpoint.Generation{}
	model.TokenizerJSON = bytes.Replace(model.TokenizerJSON, []byte(`"post_processor"`), []byte(`"other"`), 1)
	if s := showModel("m", model).String(); !strings.Contains(s, "text begins with no token (0 is not put there) and ends") || !strings.Contains(s, "greedy, as its files recommend nothing\n") {
		t.Error(s)
	}
	no := false
	model.Generation.DoSample = &no
	if s := showModel("m", model).String(); !strings.Contains(s, "greedy, as its authors recommend\n") {
		t.Error(s)
	}
	if model.TokenizerJSON = nil; showModel("m", model).AddBOS {
		t.Error("a tokenizer that is not there puts a token")
	}
}
