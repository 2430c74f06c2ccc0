package executor

import (
	"reflect"
	"testing"

	"github.com/cbactor/cbactor/model"
)

func TestDivide(t *testing.T) {
	const f, s = model.Full, model.Sliding
	for _, c := range []struct {
		name       string
		kinds      []model.Attention
		maxContext int
		want       Division
	}{
		{"nothing is said", nil, 100, Division{Layers: []int{4}, Windows: []int{0}, Places: []LayerPlace{{0, 0}, {0, 1}, {0, 2}, {0, 3}}}},
		{"all slide", []model.Attention{s, s, s, s}, 100, Division{Layers: []int{4}, Windows: []int{20}, Places: []LayerPlace{{0, 0}, {0, 1}, {0, 2}, {0, 3}}}},
		{"one does not", []model.Attention{s, s, f, s}, 21, Division{Layers: []int{1, 3}, Windows: []int{0, 20}, Places: []LayerPlace{{1, 0}, {1, 1}, {0, 0}, {1, 2}}}},
		{"the window holds all", []model.Attention{s, s, f, s}, 20, Division{Layers: []int{4}, Windows: []int{0}, Places: []LayerPlace{{0, 0}, {0, 1}, {0, 2}, {0, 3}}}},
	} {
		if got := Divide(&model.Config{Layers: 4, Attn: c.kinds, Window: 20}, c.maxContext); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}
