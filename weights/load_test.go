package weights

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/model"
)

// fixture is a source of tensors filled with a byte each, which counts reads.
type fixture struct {
	tensors map[string]model.Tensor
	reads   map[string]int
	fail    string // the tensor that cannot be read
	untied  bool   // a head that was written out differs from the embedding
}

var errDisk = errors.New("disk on fire")

func (m *fixture) Tensors() []model.Tensor { return slices.Collect(maps.Values(m.tensors)) }

func (m *fixture) ReadTensor(name string, dst []byte) error {
	t := m.tensors[name]
	if name == m.fail || t.DType == model.Invalid {
		return fmt.Errorf("tensor %q: %w", name, errDisk)
	}
	if len(dst) != t.Bytes() {
		return fmt.Errorf("%s: %d bytes wanted, has %d", name, len(dst), t.Bytes())
	}
	m.reads[name]++
	if name == "lm_head.weight" && !m.untied {
		name = "model.embed_tokens.weight"
	}
	copy(dst, bytes.Repeat([]byte{fill(name)}, len(dst)))
	return nil
}

func fill(name string) byte { return byte(len(name)) }

func tinyConfig() *model.Config {
	return &model.Config{Family: "llama", Vocab: 8, Hidden: 64, Intermediate: 32, Layers: 2, Heads: 2, KVHeads: 1, HeadDim: 32, TiedHead: true}
}

func source(c *model.Config, t model.DType) *fixture {
	m := &fixture{tensors: map[string]model.Tensor{}, reads: map[string]int{}}
	for _, tensor := range c.Tensors() {
		tensor.DType = t
		m.tensors[tensor.Name] = tensor
	}
	return m
}

func TestLoad(t *testing.T) {
	c := tinyConfig()
	for _, kind := range []model.DType{model.F32, model.BF16, model.Q8_0, model.Q4_1} {
		src := source(c, kind)
		src.tensors["lm_head.weight"] = model.Tensor{Name: "lm_head.weight", DType: kind, Shape: []int{8, 64}}
		set, err := Load(c, src, 3, "v3")
		if err != nil {
			t.Fatal(err)
		}
		if set.Epoch != 3 || set.Version != "v3" {
			t.Errorf("epoch %d, version %q", set.Epoch, set.Version)
		}
		size := 0
		for _, want := range c.Tensors() {
			got, ok := set.Tensor(want.Name)
			if !ok || src.reads[want.Name] != 1 {
				t.Fatalf("%s: there %v, read %d times", want.Name, ok, src.reads[want.Name])
			}
			if got.DType != kind || !slices.Equal(got.Shape, want.Shape) || len(got.Data) != got.Bytes() {
				t.Errorf("%s: %+v of %d bytes", want.Name, got.Tensor, len(got.Data))
			}
			for _, b := range got.Data {
				if b != fill(want.Name) {
					t.Fatalf("%s: its bytes are another's", want.Name)
				}
			}
			size += got.Bytes()
		}
		if set.Bytes() != size {
			t.Errorf("%s: %d bytes, want %d", kind, set.Bytes(), size)
		}
		if n, err := Size(c, src); err != nil || n < size || n >= size+align*len(c.Tensors()) {
			t.Errorf("%s: Load takes %d bytes for %d (%v)", kind, n, size, err)
		}
		if _, ok := set.Tensor("lm_head.weight"); ok {
			t.Error("a tied head was loaded")
		}
	}
}

func TestLoadRefuses(t *testing.T) {
	const name = "model.layers.1.mlp.up_proj.weight"
	for _, test := range []struct {
		what  string
		spoil func(*fixture)
		kind  error
		says  string
	}{
		{"missing", func(m *fixture) { delete(m.tensors, name) }, ErrMissing, name},
		{"extra", func(m *fixture) {
			m.tensors["model.layers.0.self_attn.q_norm.weight"] = model.Tensor{Name: "model.layers.0.self_attn.q_norm.weight"}
		}, ErrUnknown, "q_norm"},
		{"transposed", func(m *fixture) { m.tensors[name] = model.Tensor{Name: name, DType: model.F32, Shape: []int{64, 32}} }, ErrShape, name},
		{"another rank", func(m *fixture) { m.tensors[name] = model.Tensor{Name: name, DType: model.F32, Shape: []int{32 * 64}} }, ErrShape, name},
		{"unreadable type", func(m *fixture) { m.tensors[name] = model.Tensor{Name: name, Shape: []int{32, 64}} }, ErrRead, name},
		{"a head of its own", func(m *fixture) {
			m.tensors["lm_head.weight"], m.untied = model.Tensor{Name: "lm_head.weight", DType: model.F32, Shape: []int{8, 64}}, true
		}, ErrTied, "tie_word_embeddings"},
		{"a head of another type", func(m *fixture) {
			m.tensors["lm_head.weight"] = model.Tensor{Name: "lm_head.weight", DType: model.F16, Shape: []int{8, 64}}
		}, ErrTied, "tie_word_embeddings"},
		{"unreadable bytes", func(m *fixture) { m.fail = name }, errDisk, name},
	} {
		src := source(tinyConfig(), model.F32)
		test.spoil(src)
		set, err := Load(tinyConfig(), src, 1, "")
		if set != nil || !errors.Is(err, test.kind) || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: got %v, want %v that names %s", test.what, err, test.kind, test.says)
		}
	}
	c := tinyConfig()
	c.Hidden, c.HeadDim = 48, 24
	if _, err := Load(c, source(c, model.Q8_0), 1, ""); !errors.Is(err, ErrShape) {
		t.Errorf("rows of 48 in blocks of 32: got %v", err)
	}
	c.Family = "x"
	if _, err := Load(c, source(c, model.F32), 1, ""); !errors.Is(err, ErrMissing) {
		t.Errorf("unknown family: got %v", err)
	}
}

func TestRow(t *testing.T) {
	// Q4_1 with scale 2 and minimum -1 (halves 0x4000, 0xbc00); nibbles count up.
	block := append([]byte{0x00, 0x40, 0x00, 0xbc}, 0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0xdc, 0xfe, 0, 0, 0, 0, 0, 0, 0, 0)
	zero := make([]byte, len(block))
	tensor := Tensor{Tensor: model.Tensor{DType: model.Q4_1, Shape: []int{2, 32}}, Data: append(zero, block...)}
	row := make([]float32, 32)
	tensor.Row(row, 1)
	for i := range 8 {
		if low, high := float32(2*(2*i)-1), float32(2*(2*i+1)-1); row[i] != low || row[i+16] != high {
			t.Errorf("byte %d: got %g and %g, want %g and %g", i, row[i], row[i+16], low, high)
		}
	}
	tensor.Row(row, 0)
	if slices.ContainsFunc(row, func(x float32) bool { return x != 0 }) {
		t.Errorf("row 0: got %v", row)
	}
	if n := testing.AllocsPerRun(10, func() { tensor.Row(row, 1) }); n != 0 {
		t.Errorf("%g allocations", n)
	}
}
