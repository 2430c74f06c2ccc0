package cpuexec

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/cpuexec/kernels"
	"github.com/cbactor/cbactor/model"
	"github.com/cbactor/cbactor/weights"
)

// families are those of the golden models that are committed with their weights.
var families = []string{"llama", "llama-rope-llama3", "llama-rope-linear", "llama-rope-yarn"}

// family is the folder of a golden model.
func family(name string) string {
	return filepath.Join("..", "test", "testdata", "families", name)
}

// loadModel reads a checkpoint, into epoch 1.
// A name that is no path is the embedded model.
func loadModel(t testing.TB, path string) (*model.Config, *weights.Set) {
	t.Helper()
	c, err := checkpoint.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}()
	set, err := weights.Load(c.Config, c, 1, "test")
	if err != nil {
		t.Fatal(err)
	}
	return c.Config, set
}

// loaded is the set of a model as another epoch, in other memory.
func loaded(t testing.TB, path string, epoch uint32) *weights.Set {
	t.Helper()
	_, set := loadModel(t, path)
	set.Epoch = epoch
	return set
}

// start makes an executor that the test closes.
func start(t testing.TB, cfg Config) *Executor {
	t.Helper()
	e, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

func readJSON(t testing.TB, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

// kernelNames lists the instruction sets of the CPU.
func kernelNames() []string {
	if name := os.Getenv("CBACTOR_CPU"); name != "" {
		return []string{name} // a run for that one alone
	}
	var names []string
	for _, s := range kernels.All() {
		names = append(names, s.Name)
	}
	return names
}
