package model

import (
	"errors"
	"fmt"
	"testing"
)

// Whatever the sizes, parts are ascending, none is empty, and together they are the whole; or a
// number of ranks is refused.
func TestShardsAreTheWhole(t *testing.T) {
	divided := 0
	for _, heads := range [][2]int{{1, 1}, {4, 2}, {9, 3}, {12, 12}, {7, 7}, {6, 3}, {8, 1}} {
		for _, dim := range []int{8, 32, 64} {
			for _, inner := range []int{1, 7, 96, 170, 224, 1536} {
				c := &Config{Family: "llama", Vocab: 515, Hidden: 64, Intermediate: inner, Layers: 1, Heads: heads[0], KVHeads: heads[1], HeadDim: dim}
				for of := 1; of <= 12; of++ {
					name := fmt.Sprintf("%d heads over %d of %d, %d, among %d", heads[0], heads[1], dim, inner, of)
					if covers(t, name, c, of) {
						divided++
					}
				}
			}
		}
	}
	if divided < 300 {
		t.Errorf("%d were divided", divided)
	}
}

// covers looks at all parts of c; false: it is not divided.
func covers(t *testing.T, name string, c *Config, of int) bool {
	t.Helper()
	query, kv, inner, head := 0, 0, 0, 0
	for rank := range of {
		p, err := c.Shard(rank, of, nil)
		if err != nil {
			if !errors.Is(err, ErrShard) || rank > 0 {
				t.Errorf("%s: rank %d: %v", name, rank, err)
			}
			return false
		}
		s := p.Part()
		first, outputs := p.HeadRows(rank)
		if s.Query != query || s.MLP != inner || first != head || p.Heads < 1 || p.KVHeads < 1 || p.Intermediate < 1 || outputs < 0 || p.Heads%p.KVHeads != 0 {
			t.Errorf("%s: rank %d has %d heads from %d over %d from %d, %d numbers from %d, %d outputs from %d", name, rank, p.Heads, s.Query, p.KVHeads, s.KVHead, p.Intermediate, s.MLP, outputs, first)
		}
		if of <= c.KVHeads && s.KVHead != kv {
			t.Errorf("%s: rank %d has key heads from %d, want %d", name, rank, s.KVHead, kv)
		}
		query, kv, inner, head = query+p.Heads, kv+p.KVHeads, inner+p.Intermediate, head+outputs
	}
	if query != c.Heads || inner != c.Intermediate || head != c.Vocab {
		t.Errorf("%s: %d heads, %d numbers, %d outputs in all", name, query, inner, head)
	}
	return true
}
