package gpuexec

import (
	"slices"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/cpuexec"
	"github.com/cbactor/cbactor/cuda/kernels"
	"github.com/cbactor/cbactor/model"
	"github.com/cbactor/cbactor/weights"
)

// requantised is the embedded model with its matrices stored as another type.
type requantised struct {
	*checkpoint.Checkpoint
	as model.DType
}

func (s requantised) Tensors() []model.Tensor {
	list := slices.Clone(s.Checkpoint.Tensors())
	for i := range list {
		if len(list[i].Shape) == 2 {
			list[i].DType = s.as
		}
	}
	return list
}

func (s requantised) ReadTensor(name string, dst []byte) error {
	all := s.Checkpoint.Tensors()
	t := all[slices.IndexFunc(all, func(t model.Tensor) bool { return t.Name == name })]
	stored := make([]byte, t.Bytes())
	if err := s.Checkpoint.ReadTensor(name, stored); err != nil || len(t.Shape) != 2 {
		copy(dst, stored)
		return err
	}
	numbers := make([]float32, t.Elements())
	model.Dequantize(numbers, stored, t.DType)
	for ; len(numbers) > 0; numbers = numbers[32:] {
		dst = dst[quantizeBlock(dst, (*[32]float32)(numbers), s.as):]
	}
	return nil
}

// quantizeBlock writes a block, and answers its size.
func quantizeBlock(dst []byte, numbers *[32]float32, as model.DType) int {
	switch as {
	case model.Q8_0:
		model.QuantizeQ8((*[34]byte)(dst), numbers)
	case model.Q4_1:
		model.QuantizeQ4((*[20]byte)(dst), numbers)
	default:
		model.QuantizeQ40((*[18]byte)(dst), numbers)
	}
	return as.RowBytes(32)
}

// tinyAs is the embedded model so, in an epoch.
func tinyAs(t *testing.T, as model.DType, epoch uint32) (*model.Config, *weights.Set) {
	t.Helper()
	c, err := checkpoint.Open("tiny")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}()
	set, err := weights.Load(c.Config, requantised{c, as}, epoch, "test")
	if err != nil {
		t.Fatal(err)
	}
	return c.Config, set
}

// prompt is some text to judge by.
var prompt = []int32{1, 400, 17, 1033, 256, 2000, 9, 77, 4, 1500, 31}

// logitsOf are those behind the prompt, of the first set that cfg has.
func logitsOf(t *testing.T, cfg Config) []float32 {
	t.Helper()
	cfg.MaxContext, cfg.MaxTokens, cfg.MaxSlots = 64, 64, 1
	j := newJudge(t, cfg)
	j.run(prompt)
	return j.logits
}

// onCPU are the logits of the CPU's executor in float32, with the same weights.
func onCPU(t *testing.T, m *model.Config, set *weights.Set) []float64 {
	t.Helper()
	j := &judge{t: t, epoch: set.Epoch}
	e, err := cpuexec.New(cpuexec.Config{Model: m, Weights: set, Threads: 1, PageSize: 16, MaxContext: 64, MaxTokens: 64, MaxSlots: 1,
		KeepLogits: func(_, _ int, logits []float32) { j.logits = slices.Clone(logits) }})
	if err != nil {
		t.Fatal(err)
	}
	j.e = e
	j.run(prompt)
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	wide := make([]float64, len(j.logits))
	for i, x := range j.logits {
		wide[i] = float64(x)
	}
	return wide
}

// TestPackedWeightsAreThoseOfTheFile computes with weights in blocks: as near to the CPU, which widens
// them, as activations in bf16 are; and floats that are quantised when they are loaded are the same to the
// bit as those that were quantised before.
func TestPackedWeightsAreThoseOfTheFile(t *testing.T) {
	dev := emulated(t)
	m, floats := loadModel(t, "tiny")
	for _, c := range []struct {
		as       model.DType
		quantize Quantize
	}{{model.Q8_0, QuantizeQ8}, {model.Q4_1, QuantizeQ4}, {model.Q4_0, ""}} {
		t.Run(c.as.String(), func(t *testing.T) {
			_, set := tinyAs(t, c.as, 1)
			got := logitsOf(t, Config{Device: dev, Model: m, Weights: set})
			if off := furthest(got, onCPU(t, m, set)); !(off < tinyBound) {
				t.Errorf("logits differ from the CPU's by %g", off)
			}
			if c.quantize == "" {
				return
			}
			if !slices.Equal(got, logitsOf(t, Config{Device: dev, Model: m, Weights: floats, Quantize: c.quantize})) {
				t.Error("quantised when it is loaded, the model computes other logits")
			}
		})
	}
}

// TestUpdatesStayInTheirFormats loads a set that is stored in another type beside the first one.
func TestUpdatesStayInTheirFormats(t *testing.T) {
	m, first := tinyAs(t, model.Q8_0, 1)
	_, floats := loadModel(t, "tiny")
	floats.Epoch = 2
	j := newJudge(t, Config{Device: emulated(t), Model: m, Weights: first, WeightSets: 2, MaxContext: 64, MaxTokens: 64, MaxSlots: 1})
	j.run(prompt)
	want := j.logits // as floats are when they are quantised
	e := j.e.(*Executor)
	if err := e.Load(t.Context(), floats); err != nil {
		t.Fatal(err)
	}
	j.epoch = 2
	j.run(prompt)
	if !slices.Equal(j.logits, want) {
		t.Error("floats are not quantised as the set before was stored")
	}
	if err := e.Drop(1); err != nil {
		t.Fatal(err)
	}
	_, fours := tinyAs(t, model.Q4_0, 3)
	if err := e.Load(t.Context(), fours); err != nil {
		t.Fatal(err)
	}
	j.epoch = 3
	j.run(prompt)
	right := onCPU(t, m, fours)
	if off := furthest(j.logits, right); !(off < 2*tinyBound) { // its numbers are rounded once more
		t.Errorf("logits of a set in Q4_0, in a place of Q8, differ by %g", off)
	}
	if off := furthest(want, right); off < 4*tinyBound {
		t.Errorf("logits of the set before differ by %g: nothing is shown", off)
	}
}

// TestPackedWeightsTakeLess plans with them.
func TestPackedWeightsTakeLess(t *testing.T) {
	cfg := tinyPlan(t)
	planned := func() float64 {
		p, err := Plan(cfg)
		if err != nil {
			t.Fatal(err)
		}
		return float64(p.Weights)
	}
	floats := planned()
	for _, c := range []struct {
		as       model.DType
		quantize Quantize
		share    float64
	}{{model.Q8_0, "", 34. / 64}, {model.F32, QuantizeQ8, 34. / 64}, {model.Q4_0, "", 20. / 64}, {model.Q4_1, QuantizeQ8, 20. / 64}, {model.F16, QuantizeQ4, 20. / 64}, {model.Q6_K, QuantizeQ4, 1}} {
		cfg.Quantize = c.quantize
		cfg.Stored = slices.Clone(cfg.Model.Tensors())
		for i := range cfg.Stored {
			cfg.Stored[i].DType = c.as
		}
		if got := planned() / floats; got < c.share || got > c.share+0.01 { // norms are floats
			t.Errorf("stored as %s, and quantised to %q, weights take %.3f of what floats do, want %.3f", c.as, c.quantize, got, c.share)
		}
	}
}

// TestModulesOfOneMatrix have the format of the one with the most bits; a table that is no head is not
// quantised.
func TestModulesOfOneMatrix(t *testing.T) {
	m, _ := loadModel(t, "tiny")
	changed := *m
	changed.TiedHead = false
	cfg := Config{Model: &changed, Quantize: QuantizeQ4, Stored: []model.Tensor{{Name: "lm_head.weight", DType: model.Q8_0}}}
	for suffix, as := range map[string]model.DType{
		"q_proj": model.Q4_0, "k_proj": model.Q4_1, "v_proj": model.Q8_0, "o_proj": model.Q4_K,
		"gate_proj": model.Q4_1, "up_proj": model.Q5_K, "down_proj": model.F32, "embed_tokens": model.BF16,
	} {
		for _, t := range changed.Tensors() {
			if strings.HasSuffix(t.Name, suffix+".weight") {
				t.DType = as
				cfg.Stored = append(cfg.Stored, t)
			}
		}
	}
	p, _, _ := layParameters(&cfg, 0)
	l := &p.layers[1]
	for what, c := range map[string]struct{ got, want kernels.Format }{
		"q, k and v": {l.qkv.Format, kernels.Q8}, "output": {l.out.Format, kernels.BF16},
		"gate and up": {l.gateUp.Format, kernels.BF16}, "down": {l.down.Format, kernels.Q4},
		"head": {p.head.Format, kernels.Q8}, "embedding": {p.embedding.Format, kernels.BF16},
	} {
		if c.got != c.want {
			t.Errorf("%s: %s, want %s", what, c.got, c.want)
		}
	}
}
