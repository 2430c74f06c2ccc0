package test

import (
	"errors"
	"os"
	"runtime/debug"
	"testing"
	"time"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/cpuexec"
	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/text"
)

// What opening, tokenizer, reading, packing and the start of the actors may take together
// on two cores, and what is resident then, as a multiple of the plan's weights: as they are
// stored, which updates and sleeps need, and packed.
const (
	loads        = 5
	loadGGUF     = time.Second
	loadBF16     = 2 * time.Second
	loadResident = 1.1
)

// loaded is what one load has cost.
type loaded struct {
	took     time.Duration
	resident int64 // bytes more than before
	weights  int64 // of them by the plan
}

func TestLoadSpeed(t *testing.T) {
	if os.Getenv("CBACTOR_FULL") == "" {
		t.Skip("a measurement: set CBACTOR_FULL")
	}
	for _, x := range []struct {
		name  string
		limit time.Duration
	}{{"smollm2", loadGGUF}, {"smollm2-bf16", loadBF16}} {
		path, err := checkpoint.Resolve(x.name)
		if err != nil {
			if os.Getenv("CBACTOR_REQUIRE_ASSETS") == "" {
				t.Skip(err)
			}
			t.Fatal(err)
		}
		best := loaded{took: time.Hour}
		for range loads {
			one, err := load(t, path)
			if err != nil {
				t.Fatal(err)
			}
			if one.took < best.took {
				best.took = one.took
			}
			best.resident, best.weights = max(best.resident, one.resident), one.weights
		}
		t.Logf("load: %-13s ready in %v, %.1f MiB resident, weights %.1f MiB as stored and packed", x.name, best.took.Round(time.Millisecond), float64(best.resident)/(1<<20), float64(best.weights)/(1<<20))
		if best.took > x.limit {
			t.Errorf("%s takes %v to load, at most %v are wanted", x.name, best.took, x.limit)
		}
		if most := int64(loadResident * float64(best.weights)); best.resident > most {
			t.Errorf("%s takes %d bytes, at most %d are wanted", x.name, best.resident, most)
		}
	}
}

// load loads a model, and gives it up again.
func load(t *testing.T, path string) (out loaded, err error) {
	debug.FreeOSMemory() // what the load before has left
	before := cpuexec.Resident()
	start := time.Now()
	model, err := checkpoint.Open(path)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, model.Close()) }()
	if _, err := text.Load(model); err != nil {
		return out, err
	}
	e, err := engine.Spawn(t.Context(), engine.Config{Checkpoint: model, Threads: 2, WeightSets: 1})
	if err != nil {
		return out, err
	}
	out.took = time.Since(start)
	out.resident = cpuexec.Resident() - before
	memory := e.Info().Memory
	out.weights = memory.WeightSet + memory.Executor.Weights
	return out, e.Close()
}
