package engine

import (
	"errors"
	"testing"
)

// The goldens were computed by the reference itself.
func TestSizingIsTheReference(t *testing.T) {
	base := Sizing{ElementBytes: 2, Hidden: 2048, Vocab: 128256, HeadDim: 64, Heads: 32, KVHeads: 8, GroupLayers: []int{16}, PageSize: 256}
	with := func(available int64, change func(*Sizing)) Sizing {
		s := base
		s.Available = available
		change(&s)
		return s
	}
	for _, c := range []struct {
		name string
		in   Sizing
		want Sized // of these fields alone
	}{
		{"fused, two plans", with(16<<30, func(s *Sizing) { s.Fused, s.LogitsToKeep, s.Async, s.BlocksPerRequest = true, true, true, 32 }),
			Sized{Sector: 8388608, PerToken: 12640, PerRead: 2064, PerSector: 8916992, Fixed: 546308096, MaxTokens: 8192, Sectors: 1853, Blocks: 1853, MaxRequest: 1024}},
		{"masks", with(16<<30, func(s *Sizing) { s.LogitsToKeep = true }),
			Sized{Sector: 8388608, PerToken: 19504, PerRead: 9224, PerSector: 10749952, Fixed: 546308096, MaxTokens: 8192, Sectors: 1093, Blocks: 1093, MaxRequest: 1024}},
		{"all logits, log-probabilities", with(8<<30, func(s *Sizing) { s.Logprobs, s.MaxTokens = true, 512 }),
			Sized{Sector: 8388608, PerToken: 517172, PerRead: 9224, PerSector: 10749952, Fixed: 16777216, MaxTokens: 512, Sectors: 753, Blocks: 753, MaxRequest: 512}},
		{"blocks given", with(8<<30, func(s *Sizing) { s.NumBlocks, s.MaxTokens = 100, 512 }),
			Sized{Sector: 8388608, PerToken: 517168, PerRead: 9224, PerSector: 10749952, Fixed: 16777216, MaxTokens: 512, Sectors: 100, Blocks: 100, MaxRequest: 512}},
		{"two kinds of attention", with(8<<30, func(s *Sizing) {
			s.LogitsToKeep, s.Sliding, s.GroupLayers, s.MaxTokens = true, true, []int{8, 8}, 512
		}),
			Sized{Sector: 4194304, PerToken: 19520, PerRead: 9232, PerSector: 6557696, Fixed: 537919488, MaxTokens: 512, Sectors: 1135, Blocks: 567, MaxRequest: 512}},
		{"little memory", with(1<<30, func(s *Sizing) { s.Fused, s.LogitsToKeep, s.Async, s.BlocksPerRequest = true, true, true, 32 }),
			Sized{Sector: 8388608, PerToken: 12640, PerRead: 2064, PerSector: 8916992, Fixed: 546308096, MaxTokens: 8192, Sectors: 47, Blocks: 47, MaxRequest: 1024}},
	} {
		got, err := c.in.Size()
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if got.Footprint > c.in.Available || got.Footprint < got.Fixed+got.Masks+got.Sectors*got.PerSector {
			t.Errorf("%s: the footprint of %d bytes is not within %d", c.name, got.Footprint, c.in.Available)
		}
		got.Masks, got.Footprint = 0, 0
		if got != c.want {
			t.Errorf("%s:\n got %+v\nwant %+v", c.name, got, c.want)
		}
	}
	for name, s := range map[string]Sizing{
		"nothing left":    with(1<<29, func(s *Sizing) { s.LogitsToKeep = true }),
		"too many blocks": with(1<<30, func(s *Sizing) { s.NumBlocks = 1000 }),
	} {
		if _, err := s.Size(); !errors.Is(err, ErrMemory) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestBlocksPerRequest(t *testing.T) {
	for _, c := range []struct{ prompt, generated, want int }{{1000, 500, 8}, {256, 256, 4}, {1, 0, 2}, {0, 0, 32}, {maxHint, maxHint, 8388610}} {
		if got := BlocksPerRequest(Hints{MaxPrompt: c.prompt, MaxNew: c.generated}, 256); got != c.want {
			t.Errorf("%d+%d tokens: %d blocks, want %d", c.prompt, c.generated, got, c.want)
		}
	}
}
