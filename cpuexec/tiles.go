package cpuexec

import (
	"fmt"

	"github.com/cbactor/cbactor/cpuexec/kernels"
)

// rowBlock is how many rows pass a panel before the next panel's turn, where nothing
// else was measured, and at most: enough to pay for reading it, few enough that the rows
// stay in the second level cache.
const rowBlock = 64

// A single row passes several panels in one call, where nothing else was measured: as many
// as are callBytes together, which take about ten microseconds, and at most as fit a
// worker's tile.
const (
	callBytes  = 256 << 10
	tilePanels = rowBlock * 2
)

// class is one of row counts, which have a choice each.
type class int

// classEnds are the row counts that classes end with; that of the last is the most that a
// step can have.
var classEnds = [...]int{32, 64, 192, 1 << 16}

const (
	classes = class(len(classEnds))
	varlen  = class(2) // the first of longer steps than decoding has
)

// classOf is that of so many rows.
func classOf(rows int) (c class) {
	for rows > classEnds[c] && c < classes-1 {
		c++
	}
	return c
}

// tiles says how products of matrices of one shape are cut into parts. An output's sum is
// one chain within a part, so that no choice changes a bit of it.
type tiles struct {
	call  int          // panels that a single row passes in one call
	block [classes]int // rows that pass a panel before the next one's turn; multiples of 8, which some kernels pack side by side
}

// shape is what matrices have in common whose products are cut alike.
type shape struct {
	format    kernels.Format
	k, panels int
}

// shape is m's.
func (m *matrix) shape() shape { return shape{m.format, m.k, m.count()} }

// String is inputs times outputs, with the format.
func (h shape) String() string {
	return fmt.Sprintf("%s %dx%d", h.format, h.k, h.panels*kernels.Panel)
}

// bytes is the size of such a matrix.
func (h shape) bytes() int { return h.panels * h.format.PanelBytes(h.k) }

// tileTable has the tiles of every shape: matrices of all weight sets share them.
type tileTable map[shape]*tiles

// of is the tiles of a shape; of a new one the defaults.
func (t tileTable) of(h shape) *tiles {
	if t[h] == nil {
		t[h] = &tiles{
			call:  max(1, min(callBytes/h.format.PanelBytes(h.k), tilePanels)),
			block: [classes]int{rowBlock, rowBlock, rowBlock, rowBlock},
		}
	}
	return t[h]
}
