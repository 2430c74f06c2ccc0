package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/cpuexec"
	"github.com/cbactor/cbactor/model"
)

// storedAs is a model of 4 layers that is not tied, in a type.
func storedAs(t *testing.T, dtype string) *checkpoint.Checkpoint {
	t.Helper()
	c, err := checkpoint.Open("../checkpoint/testdata/llama-" + dtype + ".gguf")
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

// A model is computed as it is stored, and its cache is as fine as that; what is asked for
// goes before, and what is lost by it is told.
func TestComputeFollowsTheModel(t *testing.T) {
	const f32, bf16, int8 = cpuexec.ComputeF32, cpuexec.ComputeBF16, cpuexec.ComputeInt8
	for _, c := range []struct {
		stored   string
		given    Config
		compute  cpuexec.Compute
		quantize cpuexec.Quantize
		kv       cpuexec.KVType
		notice   string
	}{
		{stored: "f32", compute: f32, kv: cpuexec.KVF32},
		{stored: "f16", compute: f32, kv: cpuexec.KVF32},
		{stored: "bf16", compute: bf16, kv: cpuexec.KVBF16},
		{stored: "q8_0", compute: int8, quantize: cpuexec.QuantizeQ8, kv: cpuexec.KVInt8},
		{stored: "q4_1", compute: int8, quantize: cpuexec.QuantizeQ8, kv: cpuexec.KVInt8},
		{stored: "q4_1", given: Config{Compute: "f32"}, compute: f32, kv: cpuexec.KVF32},
		{stored: "q4_1", given: Config{Compute: "auto", KVDType: "f32"}, compute: int8, quantize: cpuexec.QuantizeQ8, kv: cpuexec.KVF32},
		{stored: "q4_1", given: Config{Compute: "bf16"}, compute: bf16, kv: cpuexec.KVBF16, notice: "compute is bf16: 29 matrices stored as Q4_1 are rounded"},
		{stored: "f16", given: Config{Compute: "bf16", KVDType: "int8"}, compute: bf16, kv: cpuexec.KVInt8, notice: "compute is bf16: 29 matrices stored as F16 are rounded"},
		{stored: "bf16", given: Config{Compute: "int8"}, compute: int8, quantize: cpuexec.QuantizeQ8, kv: cpuexec.KVInt8, notice: "compute is int8: 29 matrices stored as BF16 are quantised to q8"},
		{stored: "f32", given: Config{Compute: "int8", Quantize: "q4"}, compute: int8, quantize: cpuexec.QuantizeQ4, kv: cpuexec.KVInt8, notice: "compute is int8: 29 matrices stored as F32 are quantised to q4"},
		{stored: "q4_1", given: Config{Quantize: "q8"}, compute: int8, quantize: cpuexec.QuantizeQ8, kv: cpuexec.KVInt8, notice: "quantize is q8 (the program) without effect: no matrix of the model is stored as floats"},
		{stored: "q4_1", given: Config{Quantize: "column"}, compute: int8, quantize: cpuexec.QuantizeColumn, kv: cpuexec.KVInt8, notice: "quantize is column: 29 matrices stored as Q4_1 are quantised anew"},
		{stored: "bf16", given: Config{Quantize: "column"}, compute: bf16, kv: cpuexec.KVBF16, notice: "quantize (the program) has no effect here: it acts with compute int8, or on a GPU"},
	} {
		c.given.Checkpoint = storedAs(t, c.stored)
		r, err := resolve(c.given, plenty)
		if err != nil {
			t.Errorf("%s: %v", c.stored, err)
			continue
		}
		if r.cpu.Compute != c.compute || r.cpu.Quantize != c.quantize || r.cpu.KVType != c.kv {
			t.Errorf("%s: computes in %s, %s, with a cache in %s", c.stored, r.cpu.Compute, r.cpu.Quantize, r.cpu.KVType)
		}
		var want []string
		if c.notice != "" {
			want = []string{c.notice}
		}
		if !slices.Equal(r.Notices, want) {
			t.Errorf("%s: notices %q, want %q", c.stored, r.Notices, want)
		}
		if info, err := r.Info(); err != nil || info.Compute != string(c.compute) || info.KVType != string(c.kv) {
			t.Errorf("%s: told as %s with a cache in %s (%v)", c.stored, info.Compute, info.KVType, err)
		}
	}
}

// Blocks of integers that lie in one matrix with others are quantised anew, which is told; q, k
// and v of several types are not.
func TestMixedMatricesAreTold(t *testing.T) {
	c, err := checkpoint.Open("../checkpoint/testdata/gguf/k.gguf")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}()
	r, err := resolve(Config{Checkpoint: c, Compute: "int8"}, plenty)
	if err != nil {
		t.Fatal(err)
	}
	const anew = " quantised to q8 with others of the same layer"
	want := []string{"compute is int8: 1 matrix stored as Q4_K is" + anew, "compute is int8: 1 matrix stored as Q5_K is" + anew} // gate and up
	if !slices.Equal(r.Notices, want) {
		t.Errorf("notices %q, want %q", r.Notices, want)
	}
}

// Heads that int8 does not fit have a cache in bf16, unless int8 is asked for.
func TestCacheTypeFitsTheHeads(t *testing.T) {
	for dim, want := range map[int]string{6: "bf16", 8: "int8", 1024: "int8", 1028: "bf16"} {
		c := *storedAs(t, "q8_0")
		m := *c.Config
		c.Config, m.HeadDim = &m, dim
		r := &Resolved{Config: Config{Checkpoint: &c}, given: map[string]string{}, from: map[string]string{}}
		if err := r.followStored(); err != nil || r.Config.KVDType != want {
			t.Errorf("heads of %d have a cache in %s (%v), want %s", dim, r.Config.KVDType, err, want)
		}
		r.Config.KVDType, r.given["kv_dtype"] = "int8", "--kv-dtype"
		err := r.followStored()
		if refused := errors.Is(err, ErrConfig) && strings.Contains(err.Error(), fmt.Sprintf("kv_dtype is int8 (--kv-dtype), which heads of %d elements do not fit: take bf16", dim)); refused != (want == "bf16") {
			t.Errorf("heads of %d: error %v", dim, err)
		}
	}
}

// The embedding is a matrix where it is the head, too.
func TestWhatIsMultiplied(t *testing.T) {
	embedding := model.Tensor{Name: "model.embed_tokens.weight", Shape: []int{4, 2}}
	for tied, want := range map[bool]bool{false: false, true: true} {
		if got := multiplied(&model.Config{TiedHead: tied}, embedding); got != want {
			t.Errorf("tied %t: %t", tied, got)
		}
	}
	router := model.Tensor{Name: "model.layers.0.mlp.gate.weight", Shape: []int{4, 2}}
	if multiplied(&model.Config{Family: "qwen3_moe", MoE: &model.MoE{}}, router) {
		t.Error("a router is computed as it is")
	}
	if norm := (model.Tensor{Name: "model.norm.weight", Shape: []int{4}}); multiplied(&model.Config{}, norm) {
		t.Error("a norm is no matrix")
	}
}

func TestMatricesInWords(t *testing.T) {
	for n, want := range map[int]string{1: "1 matrix stored as F16 is", 2: "2 matrices stored as F16 are"} {
		if got := matrices(n, model.F16); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

// A level says how both paths are tuned, unless one of them is told its own.
func TestTuningOfPaths(t *testing.T) {
	for _, c := range []struct {
		given          Config
		varlen, decode string
	}{
		{Config{}, untuned, untuned},
		{Config{DefaultCompileLevel: 1}, "mode=default,dynamic=true", "mode=default,dynamic=true"},
		{Config{DefaultCompileLevel: 2}, "mode=max-autotune-no-cudagraphs,dynamic=true", "mode=max-autotune-no-cudagraphs,dynamic=true"},
		{Config{DefaultCompileLevel: 3, VarlenCompileConfig: &Compile{Mode: "none"}}, untuned, "mode=max-autotune-no-cudagraphs,dynamic=false"},
		{Config{DecodeCompileConfig: &Compile{Mode: "reduce-overhead"}}, untuned, "mode=reduce-overhead,dynamic=false"},
	} {
		c.given.Checkpoint = storedAs(t, "f32")
		r, err := resolve(c.given, plenty)
		if err != nil {
			t.Fatal(err)
		}
		if v, d := format(*r.Config.VarlenCompileConfig), format(*r.Config.DecodeCompileConfig); v != c.varlen || d != c.decode {
			t.Errorf("level %d: %s and %s, want %s and %s", c.given.DefaultCompileLevel, v, d, c.varlen, c.decode)
		}
		if r.Config.VarlenCompileConfig == r.Config.DecodeCompileConfig {
			t.Errorf("level %d: both paths have one Compile", c.given.DefaultCompileLevel)
		}
	}
}
