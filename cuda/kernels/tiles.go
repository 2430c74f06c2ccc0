package kernels

import "slices"

// Product is a kind of product, whose kernels are there for several tiles.
type Product int

const (
	Dense        Product = iota // Gemm
	Gated                       // GemmGate
	DenseExperts                // GemmExperts
	GatedExperts                // GemmGateExperts
)

// String is what it is called in keys of what was measured.
func (p Product) String() string { return [...]string{"gemm", "gate", "experts", "gate of experts"}[p] }

// tiles is how many of the tiles it has.
func (p Product) tiles() int {
	if p >= DenseExperts {
		return expertTiles
	}
	return len(tiles)
}

// Shape is what products have in common that are cut alike: their kind, and their matrix [N][K].
type Shape struct {
	Product
	Format
	N, K int
}

// RowEnds are the numbers of rows that classes end with, for each of which a tile can be chosen. Rows of
// experts are those of each, when all have as many.
var RowEnds = [...]int{16, 64, 256, 1 << 30}

// UseTile has products of a shape and a class of rows computed by a tile: 0 stands for the one that fits the
// rows, n for the n-th. No tile changes a bit of what is computed.
func (s *Set) UseTile(of Shape, class, tile int) {
	if s.tiles == nil {
		s.tiles = map[Shape][len(RowEnds)]int{}
	}
	use := s.tiles[of]
	use[class] = tile
	s.tiles[of] = use
}

// Tiles are those that differ for products of m rows of a shape, but for the one that fits: arguments of
// UseTile.
func Tiles(of Shape, m int) (list []int) {
	most := of.tiles() - 1
	if of.Product == Dense && of.K > rangeOf(of.N, of.K) { // several ranges: see Gemm
		if most--; m > tiles[most].m {
			return nil
		}
	}
	for i := range most + 1 {
		if i != min(tileOf(m, of.tiles()), most) {
			list = append(list, i+1)
		}
	}
	return list
}

// tile is the one for m rows of a shape.
func (s *Set) tile(of Shape, m int) int {
	class := slices.IndexFunc(RowEnds[:], func(end int) bool { return m <= end })
	if use := s.tiles[of][class]; use > 0 {
		return use - 1
	}
	return tileOf(m, of.tiles())
}
