package kernels

import (
	"fmt"
	"testing"
)

// TestNames has each kernel, by its place, be the source's of that name: those with variants by format and tile,
// which launches compute the places of.
func TestNames(t *testing.T) {
	want := map[int]string{
		rmsNorm: "rms_norm", residual: "residual", shape: "shape", qkv: "qkv", gateParts: "gate_parts",
		loraDown: "lora_down", loraUp: "lora_up",
		attention64: "attention_64", attention128: "attention_128", attention256: "attention_256", attentionMerge: "attention_merge",
		route: "route", sortExperts: "sort_experts", mix: "mix",
		best: "best", draw: "draw", keep: "keep", score: "score", patch: "patch",
	}
	for _, one := range []struct {
		first int
		name  string
		tiles []tile
	}{
		{gemm16, "gemm", tiles[:]}, {gate16, "gate", tiles[:]},
		{gateExperts16, "gate_experts", tiles[:expertTiles]}, {gemmExperts16, "gemm_experts", tiles[:expertTiles]},
	} {
		for f, format := range map[Format]string{BF16: "", Q8: "_q8", Q4: "_q4"} {
			want[ofFormat(embed, f, 0, 1)] = "embed" + format
			for i, tile := range one.tiles {
				want[ofFormat(one.first, f, i, len(one.tiles))] = fmt.Sprintf("%s%s_%d", one.name, format, tile.m)
			}
		}
	}
	if len(want) != count {
		t.Errorf("%d kernels have places, there are %d", len(want), count)
	}
	for place, name := range names {
		if name != want[place] {
			t.Errorf("place %d has %q, want %q", place, name, want[place])
		}
	}
}
