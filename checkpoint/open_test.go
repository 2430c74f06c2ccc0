package checkpoint

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/cbactor/cbactor/model"
	"github.com/cbactor/cbactor/weights"
)

const families = "../test/testdata/families"

func open(t *testing.T, path string) *Checkpoint {
	t.Helper()
	c, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// wide reads a tensor as float32.
func wide(t *testing.T, c *Checkpoint, name string) []float32 {
	t.Helper()
	tensor := c.tensors[name].Tensor
	data := make([]byte, tensor.Bytes())
	if err := c.ReadTensor(name, data); err != nil {
		t.Fatal(err)
	}
	out := make([]float32, tensor.Elements())
	model.Dequantize(out, data, tensor.DType)
	return out
}

func TestOpenFamilies(t *testing.T) {
	for _, name := range []string{"llama", "llama-rope-linear", "llama-rope-llama3", "llama-rope-yarn"} {
		c := open(t, filepath.Join(families, name))
		if c.Config.Family != "llama" || c.Config.Stored != model.F32 || c.TokenizerJSON != nil || c.Vocab != nil {
			t.Errorf("%s: %+v", name, c)
		}
		var got []string
		for _, tensor := range c.Tensors() {
			got = append(got, tensor.Name)
			for i, x := range wide(t, c, tensor.Name) {
				if math.IsNaN(float64(x)) || math.Abs(float64(x)) > 10 {
					t.Fatalf("%s: %s: number %d is %g", name, tensor.Name, i, x)
				}
			}
		}
		if !slices.IsSorted(got) || len(got) != len(c.Config.Tensors()) {
			t.Errorf("%s: %d tensors: %v", name, len(got), got)
		}
	}
}

var _ weights.Source = (*Checkpoint)(nil)

// A weight set has every tensor of the model, whatever the file.
func TestLoadWeights(t *testing.T) {
	for _, path := range []string{Embedded, filepath.Join(families, "llama"), filepath.Join(families, "llama-rope-linear"), "testdata/llama-q4_1.gguf"} {
		c := open(t, path)
		set, err := weights.Load(c.Config, c, 1, "test")
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		const name = "model.layers.1.self_attn.k_proj.weight"
		want := wide(t, c, name)
		tensor, ok := set.Tensor(name)
		if !ok {
			t.Errorf("%s: no %s", path, name)
			continue
		}
		row := make([]float32, tensor.Shape[1])
		for i := range tensor.Shape[0] {
			if tensor.Row(row, i); !slices.Equal(row, want[i*len(row):(i+1)*len(row)]) {
				t.Errorf("%s: row %d is another", path, i)
			}
		}
	}
}

func BenchmarkOpenSmolLM2(b *testing.B) {
	path, err := Resolve("smollm2")
	if err != nil {
		b.Skip(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		c, err := Open(path)
		if err != nil {
			b.Fatal(err)
		}
		if err := c.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func TestOpenEmbedded(t *testing.T) {
	c := open(t, Embedded)
	if c.Config.Layers != 6 || c.Config.Vocab != 2048 || c.Config.Stored != model.BF16 || !reflect.DeepEqual(c.Config.EOS, []int32{0, 2}) {
		t.Errorf("%+v", c.Config)
	}
	if !strings.Contains(c.ChatTemplate, "<|im_start|>") || len(c.TokenizerJSON) < 100000 || c.BOSToken != "<|endoftext|>" || c.EOSToken != "<|im_end|>" {
		t.Errorf("template %q, %d bytes of tokenizer, BOS %q, EOS %q", c.ChatTemplate, len(c.TokenizerJSON), c.BOSToken, c.EOSToken)
	}
	if g := c.Generation; g.DoSample == nil || !*g.DoSample || *g.Temperature != 0.7 || *g.TopP != 0.9 || g.TopK != nil {
		t.Errorf("%+v", g)
	}
	for _, tensor := range c.Config.Tensors() {
		wide(t, c, tensor.Name)
	}
}

// The same weights from a GGUF file of each type, as near as the type can be.
func TestOpenGGUFFixtures(t *testing.T) {
	want := open(t, filepath.Join(families, "llama"))
	for file, test := range map[string]struct {
		kind  model.DType
		error func(row []float32) float64 // largest possible in a block: half a step, and scales are halves
	}{
		"llama-f32":  {model.F32, func([]float32) float64 { return 0 }},
		"llama-f16":  {model.F16, func(b []float32) float64 { return largest(b) / 2048 }},
		"llama-bf16": {model.BF16, func(b []float32) float64 { return largest(b) / 256 }},
		"llama-q8_0": {model.Q8_0, func(b []float32) float64 { return largest(b)/127/2 + largest(b)/2048 }},
		"llama-q4_1": {model.Q4_1, func(b []float32) float64 { return float64(slices.Max(b)-slices.Min(b))/15/2 + 3*largest(b)/2048 }},
	} {
		c := open(t, filepath.Join("testdata", file+".gguf"))
		config := *c.Config
		config.Stored, config.NormEps = want.Config.Stored, want.Config.NormEps // the file has it in float32
		if c.Config.Stored != test.kind || float32(c.Config.NormEps) != 1e-5 || !reflect.DeepEqual(&config, want.Config) {
			t.Errorf("%s: got %+v, want %+v", file, c.Config, want.Config)
		}
		for _, tensor := range want.Config.Tensors() {
			a, b := wide(t, want, tensor.Name), wide(t, c, tensor.Name)
			for i := 0; i < len(a); i += 32 {
				limit := test.error(a[i : i+32])
				if len(tensor.Shape) == 1 {
					limit = 0
				}
				for j := i; j < i+32; j++ {
					if diff := math.Abs(float64(a[j] - b[j])); diff > limit+1e-7 {
						t.Fatalf("%s: %s: number %d is %g, want %g within %g", file, tensor.Name, j, b[j], a[j], limit)
					}
				}
			}
		}
	}
}

func largest(b []float32) float64 {
	m := 0.0
	for _, x := range b {
		m = max(m, math.Abs(float64(x)))
	}
	return m
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, test := range []struct {
		path string
		kind error
	}{
		{filepath.Join(dir, "absent"), ErrNotFound},
		{dir, ErrNotFound}, // no config.json
		{write("empty.gguf", ""), ErrFormat},
		{write("weights.gguf", strings.Repeat("x", 1000)), ErrFormat},
		{os.DevNull, ErrNotFound},
	} {
		c, err := Open(test.path)
		if c != nil || !errors.Is(err, test.kind) || !strings.Contains(err.Error(), test.path) {
			t.Errorf("%s: got %v, want %v", test.path, err, test.kind)
		}
	}
}

// Who names the folder of a GGUF file is told of the file.
func TestFolderOfGGUF(t *testing.T) {
	_, err := openFolder(fstest.MapFS{"b.gguf": {}, "a.gguf": {}, "readme": {}})
	if !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), `no config.json: give the path of a .gguf file that it has, such as "a.gguf"`) {
		t.Error(err)
	}
}

func TestReadTensorRefuses(t *testing.T) {
	c := open(t, Embedded)
	if err := c.ReadTensor("x", nil); !errors.Is(err, ErrFormat) {
		t.Errorf("no such tensor: got %v", err)
	}
	if err := c.ReadTensor("model.norm.weight", make([]byte, 3)); err == nil {
		t.Error("three bytes were enough")
	}
	c.tensors["odd"] = stored{Tensor: model.Tensor{Name: "odd", Shape: []int{4}}, kind: "I64"}
	if err := c.ReadTensor("odd", nil); !errors.Is(err, model.ErrUnsupported) || !strings.Contains(err.Error(), "I64") {
		t.Errorf("unreadable type: got %v", err)
	}
}

// A file that shrinks after it was opened costs an error.
func TestReadTensorOfShrunkFile(t *testing.T) {
	data, err := os.ReadFile("testdata/llama-q4_1.gguf")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "m.gguf")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	c := open(t, path)
	if err := os.Truncate(path, int64(len(data)/2)); err != nil {
		t.Fatal(err)
	}
	failed := 0
	for _, tensor := range c.Tensors() {
		if err := c.ReadTensor(tensor.Name, make([]byte, tensor.Bytes())); err != nil {
			failed++
		}
	}
	if failed == 0 {
		t.Error("every tensor was read from half a file")
	}
}

// The type of most numbers counts, not that of most tensors.
func TestSetStored(t *testing.T) {
	c := &Checkpoint{Config: &model.Config{}, tensors: map[string]stored{
		"a": {Tensor: model.Tensor{DType: model.F32, Shape: []int{8}}},
		"b": {Tensor: model.Tensor{DType: model.F32, Shape: []int{8}}},
		"c": {Tensor: model.Tensor{DType: model.BF16, Shape: []int{8, 8}}},
		"d": {Tensor: model.Tensor{DType: model.Invalid, Shape: []int{80, 80}}},
	}}
	if c.setStored(); c.Config.Stored != model.BF16 {
		t.Errorf("got %s", c.Config.Stored)
	}
}

// A name where a path belongs is told from a path that is not there.
func TestOpenTellsHowNamesBecomePaths(t *testing.T) {
	for path, want := range map[string]string{
		"smollm2": `"smollm2" is neither a folder nor a file: Resolve gives the path of a model by its name`,
		"":        `"" is neither a folder nor a file: Resolve gives the path of a model by its name`,
		"no such": `"no such" is neither a folder nor a file`,
	} {
		if _, err := Open(path); !errors.Is(err, ErrNotFound) || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
