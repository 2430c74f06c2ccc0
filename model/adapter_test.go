package model

import (
	"errors"
	"math"
	"strings"
	"testing"
)

// An adapter is refused by the name of its module where B overflows with its scale,
// though each is finite.
func TestAdapterThatOverflows(t *testing.T) {
	c := &Config{Family: "llama", Vocab: 3, Hidden: 2, Intermediate: 2, Layers: 1, Heads: 1, KVHeads: 1, HeadDim: 2}
	const module = "model.layers.0.self_attn.q_proj"
	for _, p := range []struct {
		scale float64
		b     float32
		ok    bool
	}{
		{2, 1, true},
		{1, math.MaxFloat32, true},
		{1e-30, math.MaxFloat32, true},
		{1e300, 0, true},
		{2, math.MaxFloat32, false},
		{-1e300, 1, false},
	} {
		a := &Adapter{Parts: []AdapterPart{{Module: module, Rank: 1, Scale: p.scale, A: []float32{1, 1}, B: []float32{0, p.b}}}}
		err := a.Check(c, 1)
		if p.ok && err != nil || !p.ok && (!errors.Is(err, ErrAdapter) || !strings.Contains(err.Error(), module)) {
			t.Errorf("%g times %g: %v", p.scale, p.b, err)
		}
	}
}
