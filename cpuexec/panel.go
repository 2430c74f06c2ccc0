package cpuexec

import (
	"github.com/cbactor/cbactor/cpuexec/kernels"
	"github.com/cbactor/cbactor/model"
	"github.com/cbactor/cbactor/weights"
)

// columns says which row of which stored tensor is column c of a matrix; ok is
// false for padding.
type columns func(c int) (t weights.Tensor, row int, ok bool)

// tileWidth is how many numbers of each row are widened before they are turned: few, so
// that an assembly call stays short. Blocks of quantised types begin at its multiples. A
// worker's tile, which has to hold tilePanels rows of a panel as well, has tileLen of them at least.
const (
	tileWidth = kernels.Super
	tileLen   = kernels.Panel * tileWidth
)

// packPanel fills panel p with stored rows, in the matrix's format, and zeros. tile is
// scratch.
func packPanel(set *kernels.Set, m *matrix, p int, from columns, tile []float32) {
	at := func(c int) (weights.Tensor, int, bool) { return from(p*kernels.Panel + c) }
	switch panel := m.panel(p)[:m.size]; m.format {
	case kernels.F32:
		packFloats(set, m.floats(p), m.k, at, tile)
	case kernels.BF16:
		packBF16(view[uint16](panel), m.k, at, tile)
	case kernels.C8:
		packC8(panel, m.k, at, tile)
	default:
		packStored(panel, m.k, at, tile, &blockTypes[m.format])
	}
}

// packFloats turns rows into columns.
func packFloats(set *kernels.Set, panel []float32, k int, from columns, tile []float32) {
	for at := 0; at < k; at += tileWidth {
		n := min(tileWidth, k-at)
		for c := range kernels.Panel {
			from.widen(tile[c*tileWidth:][:n], c, at, n)
		}
		set.Transpose(tile, panel[at*kernels.Panel:], n, tileWidth)
	}
}

// packBF16 rounds what is not bf16.
func packBF16(panel []uint16, k int, from columns, tile []float32) {
	even := (k + 1) &^ 1
	for c := range kernels.Panel {
		for at := 0; at < even; at += tileWidth {
			part := tile[:min(tileWidth, even-at)]
			from.widen(part, c, at, min(len(part), k-at))
			kernels.PackBF16(panel, part, c, at)
		}
	}
}

// packStored takes blocks of a type as they are, and makes such of other types.
func packStored(panel []byte, k int, from columns, tile []float32, t *blockType) {
	size, numbers := t.stored.RowBytes(t.stored.Block()), t.stored.Block()
	var block [maxBlock]byte
	for c := range kernels.Panel {
		if stored := from.stored(c, k, t.stored); stored != nil {
			for b := range (k + numbers - 1) / numbers {
				t.pack(panel, stored[b*size:], c, b)
			}
			continue
		}
		from.blocks(k, c, tile, func(at int, x []float32) {
			for ; len(x) > 0; at, x = at+numbers, x[numbers:] {
				t.quantize(block[:size], x[:numbers])
				t.pack(panel, block[:], c, at/numbers)
			}
		})
	}
}

// packC8 goes over a row twice, since all of it shares a scale.
func packC8(panel []byte, k int, from columns, tile []float32) {
	for c := range kernels.Panel {
		most := float32(0)
		from.blocks(k, c, tile, func(_ int, x []float32) {
			for _, v := range x {
				most = max(most, v, -v)
			}
		})
		from.blocks(k, c, tile, func(at int, x []float32) {
			for ; len(x) > 0; at, x = at+kernels.Block, x[kernels.Block:] {
				kernels.PackC8(panel, (*[kernels.Block]float32)(x), c, at/kernels.Block, most)
			}
		})
		kernels.PackC8Scale(panel, c, kernels.Blocks(k), most)
	}
}

// behind is the columns from number first on.
func (from columns) behind(first int) columns {
	return func(c int) (weights.Tensor, int, bool) { return from(first + c) }
}

// widen writes n numbers of column c, from k number at on, and zeros behind them.
func (from columns) widen(dst []float32, c, at, n int) {
	clear(dst)
	if t, row, ok := from(c); ok {
		t.Part(dst[:n], row, at)
	}
}

// stored is the k numbers of column c as they are stored, if that is so; else nil.
func (from columns) stored(c, k int, as model.DType) []byte {
	t, row, ok := from(c)
	if !ok || t.DType != as {
		return nil
	}
	n := as.RowBytes(t.Shape[len(t.Shape)-1])
	return t.Data[row*n:][as.RowBytes(t.From):][:as.RowBytes(k)]
}

// blocks widens column c and shows it part by part, with zeros behind the last number up to
// whole blocks.
func (from columns) blocks(k, c int, tile []float32, show func(at int, x []float32)) {
	n := kernels.Blocks(k) * kernels.Block
	for at := 0; at < n; at += tileWidth {
		part := tile[:min(tileWidth, n-at)]
		from.widen(part, c, at, min(len(part), k-at))
		show(at, part)
	}
}
