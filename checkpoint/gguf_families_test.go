package checkpoint

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/model"
	"github.com/cbactor/cbactor/weights"
)

// What llama.cpp's converter makes of a model is that model again: its configuration, and
// each tensor under its name, in its order of rows (testdata/gguf/make.py).
func TestGGUFFamilies(t *testing.T) {
	goldens, err := filepath.Glob("testdata/gguf/*.json")
	if err != nil || len(goldens) != 10 {
		t.Fatalf("found %v, error %v", goldens, err)
	}
	for _, golden := range goldens {
		name := strings.TrimSuffix(golden, ".json")
		t.Run(filepath.Base(name), func(t *testing.T) {
			js, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			var want struct {
				Config  json.RawMessage
				Tensors map[string][3]any
			}
			if err := json.Unmarshal(js, &want); err != nil {
				t.Fatal(err)
			}
			c := open(t, name+".gguf")
			if got, want := plainConfig(t, c.Config), wantConfig(t, want.Config); !reflect.DeepEqual(got, want) {
				t.Errorf("configuration\n%+v, want\n%+v", got, want)
			}
			if _, err := weights.Size(c.Config, c); err != nil {
				t.Error(err)
			}
			for name, sums := range want.Tensors {
				if c.Config.Redundant(name) {
					continue
				}
				tensor, ok := c.tensors[name]
				if !ok {
					t.Errorf("no %s", name)
					continue
				}
				var shape []int
				for _, n := range sums[0].([]any) {
					shape = append(shape, int(n.(float64)))
				}
				sum, turned := 0.0, 0.0
				for i, x := range wide(t, c, name) {
					sum += float64(x)
					turned += float64(x) * float64(i%1009)
				}
				if !slices.Equal(tensor.Shape, shape) || far(sum, sums[1].(float64)) || far(turned, sums[2].(float64)) {
					t.Errorf("%s %v: sums %g and %g, want %v", name, tensor.Shape, sum, turned, sums)
				}
			}
			if len(want.Tensors) < len(c.tensors) {
				t.Errorf("%d tensors, want %d", len(c.tensors), len(want.Tensors))
			}
		})
	}
}

func far(got, want float64) bool { return math.Abs(got-want) > 1e-4*max(1, math.Abs(want)) }

// plainConfig is a configuration without what a GGUF file cannot say, or says in other words.
func plainConfig(t *testing.T, c *model.Config) model.Config {
	t.Helper()
	plain := *c
	plain.Stored, plain.Rope.FreqDivisors = model.Invalid, nil
	for _, x := range []*float64{&plain.NormEps, &plain.AttnScale} {
		*x = float64(float32(*x))
	}
	return plain
}

func wantConfig(t *testing.T, js []byte) model.Config {
	t.Helper()
	c, err := model.ParseConfig(js)
	if err != nil {
		t.Fatal(err)
	}
	want := plainConfig(t, c)
	if want.Family == "mistral" { // a Mistral without a window is a Llama
		want.Family = "llama"
	}
	if want.Rope.Kind == model.RopeLlama3 { // the divisors are a tensor
		want.Rope = model.Rope{Kind: model.RopeDefault, Theta: want.Rope.Theta}
	}
	return want
}
