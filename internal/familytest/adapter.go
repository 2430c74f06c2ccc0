package familytest

import (
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/cbactor/cbactor/model"
)

// Adapter is a random one, of a seed, that adds to the modules that on names, with ranks from 1 to most.
func Adapter(m *model.Config, seed uint64, most int, on func(module string) bool) *model.Adapter {
	r := rand.New(rand.NewPCG(seed, 3))
	normal := func(n int) []float32 {
		list := make([]float32, n)
		for i := range list {
			list[i] = float32(r.NormFloat64() * 0.15)
		}
		return list
	}
	a := new(model.Adapter)
	shapes := m.AdapterShapes()
	for _, name := range slices.Sorted(maps.Keys(shapes)) {
		if rank := 1 + r.IntN(most); on(name) {
			a.Parts = append(a.Parts, model.AdapterPart{
				Module: name, Rank: rank, Scale: 1.5, A: normal(rank * shapes[name][1]), B: normal(shapes[name][0] * rank),
			})
		}
	}
	return a
}

// Everywhere names all modules.
func Everywhere(string) bool { return true }
