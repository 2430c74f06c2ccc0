package gateway

import (
	"fmt"
	"testing"
)

// As many guests are remembered as there may be, the latest ones; one that has visited and died again
// is as young as that.
func TestGraves(t *testing.T) {
	var g graves
	id := func(i int) grave { return grave{"key", fmt.Sprint(i)} }
	g.add(id(0))
	g.visit(id(0))
	for i := 1; i < mostGraves; i++ {
		g.add(id(i))
	}
	g.add(id(0))
	g.add(id(mostGraves))
	if g.visit(grave{"another", "0"}) || !g.visit(id(0)) || g.visit(id(0)) || g.visit(id(1)) || !g.visit(id(2)) {
		t.Error("others are remembered than the latest")
	}
	if len(g.list) != len(g.is) || len(g.list) != mostGraves-2 {
		t.Errorf("%d and %d are remembered", len(g.list), len(g.is))
	}
}
