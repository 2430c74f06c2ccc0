package cpuexec

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/model"
	"github.com/cbactor/cbactor/weights"
)

// storedAs is a synthetic model in other types.
type storedAs struct {
	*synthetic
	as func(name string) model.DType // of matrices
}

// Tensors implements weights.Source.
func (s *storedAs) Tensors() []model.Tensor {
	list := s.synthetic.Tensors()
	for i := range list {
		if len(list[i].Shape) == 2 {
			list[i].DType = s.as(list[i].Name)
		}
	}
	return list
}

// ReadTensor implements weights.Source.
func (s *storedAs) ReadTensor(name string, dst []byte) error {
	i := slices.IndexFunc(s.Tensors(), func(t model.Tensor) bool { return t.Name == name })
	values := s.values[name]
	stored := s.Tensors()[i].DType
	if f, ok := blockFormat(stored); ok {
		for n, t := stored.Block(), &blockTypes[f]; len(values) > 0; values = values[n:] {
			t.quantize(dst[:stored.RowBytes(n)], values[:n])
			dst = dst[stored.RowBytes(n):]
		}
		return nil
	}
	switch stored {
	case model.BF16:
		for i, x := range values {
			h := model.ToBF16(x)
			dst[2*i], dst[2*i+1] = byte(h), byte(h>>8)
		}
	default:
		return s.synthetic.ReadTensor(name, dst)
	}
	return nil
}

// widened is the model whose weights are what the set stores.
func (s *synthetic) widened(set *weights.Set) *synthetic {
	out := &synthetic{Config: s.Config, values: map[string][]float32{}}
	for t := range set.All() {
		v, last := make([]float32, t.Elements()), t.Shape[len(t.Shape)-1]
		for row := range len(v) / last {
			t.Row(v[row*last:][:last], row)
		}
		out.values[t.Name] = v
	}
	return out
}

// even has sizes that block formats can be stored in.
var even = model.Config{
	Family: "llama", Vocab: 70, Hidden: 64, Intermediate: 320, Layers: 2, Heads: 4, KVHeads: 2, HeadDim: 16,
	MaxPosition: 128, NormEps: 1e-5, Rope: model.Rope{Kind: model.RopeDefault, Theta: 10000}, AttnBias: true, MLPBias: true,
}

// wide has rows that super-blocks can be stored in.
var wide = model.Config{
	Family: "llama", Vocab: 70, Hidden: 256, Intermediate: 256, Layers: 2, Heads: 4, KVHeads: 1, HeadDim: 64,
	MaxPosition: 128, NormEps: 1e-5, Rope: model.Rope{Kind: model.RopeDefault, Theta: 10000}, AttnBias: true, MLPBias: true,
}

// superBlocks stores tensors as files of such types do: in some layers, that is one here,
// the values and what follows them in more bits.
func superBlocks(name string) model.DType {
	switch {
	case strings.HasSuffix(name, "0.self_attn.v_proj.weight"), strings.HasSuffix(name, "down_proj.weight"), !strings.Contains(name, "layers"):
		return model.Q6_K
	case strings.Contains(name, "o_proj"):
		return model.Q5_K
	}
	return model.Q4_K
}

// mixed stores tensors in all types, those of a matrix too.
func mixed(name string) model.DType {
	types := []model.DType{model.Q4_1, model.Q8_0, model.BF16, model.Q4_1, model.F32, model.Q4_1, model.F16, model.Q8_0, model.Q4_0}
	sum := 0
	for _, b := range []byte(name) {
		sum += int(b)
	}
	if t := types[sum%len(types)]; t != model.F16 {
		return t
	}
	return model.BF16
}

// someMXFP4 stores the values and what follows attention in MXFP4, beside bf16.
func someMXFP4(name string) model.DType {
	if strings.Contains(name, "v_proj") || strings.Contains(name, "mlp") {
		return model.MXFP4
	}
	return model.BF16
}

func always(t model.DType) func(string) model.DType { return func(string) model.DType { return t } }

// computeCase is a way to compute a model.
type computeCase struct {
	name string
	m    model.Config
	as   func(string) model.DType
	cfg  Config
	off  float64 // of the logits' size that int8 may be off
}

var (
	bf16   = Config{Compute: ComputeBF16}
	int8q8 = Config{Compute: ComputeInt8}
	int8q4 = Config{Compute: ComputeInt8, Quantize: QuantizeQ4}
	column = Config{Compute: ComputeInt8, Quantize: QuantizeColumn}
)

var computeCases = []computeCase{
	{"bf16 of floats", odd, always(model.F32), bf16, 0.02},
	{"bf16 of all", even, mixed, bf16, 0.02},
	{"q8 of floats", odd, always(model.F32), int8q8, 0.05},
	{"q4 of floats", odd, always(model.F32), int8q4, 0.2},
	{"column of floats", odd, always(model.F32), column, 0.05},
	{"Q4_1", even, always(model.Q4_1), int8q8, 0.05},
	{"Q8_0", even, always(model.Q8_0), int8q4, 0.05},
	{"Q4_0", even, always(model.Q4_0), int8q4, 0.05},
	{"super-blocks", wide, superBlocks, int8q4, 0.15},
	{"q8 of all", even, mixed, int8q8, 0.05},
	{"q4 of all", even, mixed, int8q4, 0.2},
	{"column of all", even, mixed, column, 0.05},
	{"MXFP4", even, always(model.MXFP4), bf16, 1e-4},
	{"MXFP4 beside floats", even, someMXFP4, bf16, 0.02},
}

// load makes the model and its set.
func (c *computeCase) load(t *testing.T) (*synthetic, *weights.Set) {
	t.Helper()
	m := newSynthetic(c.m)
	set, err := weights.Load(&m.Config, &storedAs{m, c.as}, 1, "test")
	if err != nil {
		t.Fatal(err)
	}
	return m, set
}

// with is the case's way to compute the set.
func (c *computeCase) with(m *synthetic, set *weights.Set) Config {
	cfg := c.cfg
	cfg.Model, cfg.Weights, cfg.Threads, cfg.MaxContext, cfg.MaxSlots = &m.Config, set, 1, 128, 16
	return cfg
}

// distance is the length of the difference, against that of want.
func distance(got []float32, want []float64) float64 {
	sum, size := 0.0, 0.0
	for i, w := range want {
		sum += (float64(got[i]) - w) * (float64(got[i]) - w)
		size += w * w
	}
	return math.Sqrt(sum / size)
}

// TestComputeIsCloseToTheModel compares with the textbook over the stored numbers.
func TestComputeIsCloseToTheModel(t *testing.T) {
	for _, c := range computeCases {
		t.Run(c.name, func(t *testing.T) {
			m, set := c.load(t)
			s := randomSequences(&m.Config, 1, 1, 1)[0]
			for i := range 50 {
				s.ids = append(s.ids, int32(i*7%m.Vocab))
			}
			want := m.widened(set).logits(s.ids)
			newDriver(t, c.with(m, set), 64, true).run(s)
			off := distance(s.logits[0], want)
			t.Logf("off by %.4f", off)
			if !(off < c.off) {
				t.Errorf("logits are off by %.4f of their size", off)
			}
		})
	}
}

// TestComputeBits runs sequences alone and together, in chunks of many sizes, on every
// instruction set and numbers of threads, more than there are tokens too: not a bit of the
// logits changes.
func TestComputeBits(t *testing.T) {
	for _, c := range computeCases {
		t.Run(c.name, func(t *testing.T) {
			m, set := c.load(t)
			all := randomSequences(&m.Config, sized(9, 5), 40, 3)
			cfg := c.with(m, set)
			cfg.Kernels = "generic"
			alone := newDriver(t, cfg, 64, true)
			for _, s := range all {
				alone.run(s)
			}
			for k, name := range kernelNames() {
				for i, by := range []struct{ threads, chunk int }{{2, 1}, {5, 3}, {2, 33}, {1, 64}} {
					if left(i + k) {
						continue
					}
					cfg.Kernels, cfg.Threads = name, by.threads
					d := newDriver(t, cfg, by.chunk, true)
					d.e.step.alone = 0
					batch := make([]*sequence, len(all))
					for j, s := range all {
						batch[j] = s.again()
					}
					d.run(batch...)
					single := all[i].again()
					d.run(single)
					what := fmt.Sprintf("%s, %d threads, chunks of %d", name, by.threads, by.chunk)
					sameLogits(t, what, single.logits, all[i].logits)
					for j, s := range all {
						sameLogits(t, fmt.Sprintf("%s, sequence %d", what, j), batch[j].logits, s.logits)
					}
				}
			}
		})
	}
}

// TestBF16IsExact computes what is stored in bf16 or in MXFP4: the logits are those of float32.
func TestBF16IsExact(t *testing.T) {
	for _, as := range []func(string) model.DType{always(model.BF16), always(model.MXFP4), someMXFP4} {
		c := computeCase{m: even, as: as, cfg: bf16}
		m, set := c.load(t)
		for _, name := range kernelNames() {
			var runs []*sequence
			for _, compute := range []Compute{ComputeF32, ComputeBF16} {
				cfg := c.with(m, set)
				cfg.Compute, cfg.Kernels = compute, name
				s := randomSequences(&m.Config, 1, 40, 3)[0]
				newDriver(t, cfg, 16, true).run(s)
				runs = append(runs, s)
			}
			sameLogits(t, name, runs[1].logits, runs[0].logits)
		}
	}
}
