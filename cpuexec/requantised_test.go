package cpuexec

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/model"
)

// What is told to be quantised anew is what is one matrix with another type.
func TestRequantised(t *testing.T) {
	valuesQ6 := func(name string) model.DType {
		switch {
		case strings.HasSuffix(name, "0.self_attn.v_proj.weight"):
			return model.Q6_K
		case strings.HasSuffix(name, "1.mlp.up_proj.weight"):
			return model.Q8_0
		case strings.HasSuffix(name, "1.self_attn.k_proj.weight"):
			return model.F32
		}
		return model.Q4_K
	}
	const second = "model.layers.1."
	turned := []string{second + "mlp.gate_proj.weight"}
	for _, x := range []struct {
		as       func(string) model.DType
		compute  Compute
		quantize Quantize
		want     []string
		n        int
	}{
		{as: always(model.Q4_K), compute: ComputeInt8, quantize: QuantizeQ8},
		{as: always(model.BF16), compute: ComputeInt8, quantize: QuantizeQ8},
		{as: valuesQ6, compute: ComputeBF16},
		{as: valuesQ6, compute: ComputeInt8, quantize: QuantizeQ8, want: turned, n: 1},
		{as: always(model.Q4_K), compute: ComputeInt8, quantize: QuantizeColumn, n: 15},
	} {
		s := &storedAs{newSynthetic(wide), x.as}
		c := Config{Model: &wide, Compute: x.compute, Quantize: x.quantize, Stored: s.Tensors()}
		got := c.Requantised()
		if len(got) != x.n || x.want != nil && !slices.Equal(slices.Sorted(maps.Keys(got)), x.want) {
			t.Errorf("%s, %s: %v, want %d: %v", x.compute, x.quantize, got, x.n, x.want)
		}
	}
}
