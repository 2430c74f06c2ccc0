package cpuexec

import (
	"github.com/cbactor/cbactor/cpuexec/kernels"
	"github.com/cbactor/cbactor/model"
	"github.com/cbactor/cbactor/weights"
)

// columns says which row of which stored tensor is column c of a matrix; ok is
// false for padding.
type columns func(c int) (t weights.Tensor, row int, ok bool)

// tileWidth is how many numbers of each row are widened before they are turned: with
// the panel's they stay in the first cache, and an assembly call stays short. Blocks of
// quantised types begin at its multiples. A worker's tile is as large as theirs.
const (
	tileWidth = 2 * rowBlock
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
	case kernels.Q8:
		packQ8(panel, m.k, at, tile)
	case kernels.Q4:
		packQ4(panel, m.k, at, tile)
	case kernels.C8:
		packC8(panel, m.k, at, tile)
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

// packQ8 takes blocks of Q8_0 as they are, and makes such of other types.
func packQ8(panel []byte, k int, from columns, tile []float32) {
	var block [34]byte
	for c := range kernels.Panel {
		if stored := from.stored(c, model.Q8_0); stored != nil {
			for b := range kernels.Blocks(k) {
				kernels.PackQ8(panel, stored[b*len(block):], c, b)
			}
			continue
		}
		from.blocks(k, c, tile, func(b int, x *[kernels.Block]float32) {
			model.QuantizeQ8(&block, x)
			kernels.PackQ8(panel, block[:], c, b)
		})
	}
}

// packQ4 does the same for Q4_1.
func packQ4(panel []byte, k int, from columns, tile []float32) {
	var block [20]byte
	for c := range kernels.Panel {
		if stored := from.stored(c, model.Q4_1); stored != nil {
			for b := range kernels.Blocks(k) {
				kernels.PackQ4(panel, stored[b*len(block):], c, b)
			}
			continue
		}
		from.blocks(k, c, tile, func(b int, x *[kernels.Block]float32) {
			model.QuantizeQ4(&block, x)
			kernels.PackQ4(panel, block[:], c, b)
		})
	}
}

// packC8 goes over a row twice, since all of it shares a scale.
func packC8(panel []byte, k int, from columns, tile []float32) {
	for c := range kernels.Panel {
		most := float32(0)
		from.blocks(k, c, tile, func(_ int, x *[kernels.Block]float32) {
			for _, v := range x {
				most = max(most, v, -v)
			}
		})
		from.blocks(k, c, tile, func(b int, x *[kernels.Block]float32) { kernels.PackC8(panel, x, c, b, most) })
		kernels.PackC8Scale(panel, c, kernels.Blocks(k), most)
	}
}

// widen writes n numbers of column c, from k number at on, and zeros behind them.
func (from columns) widen(dst []float32, c, at, n int) {
	clear(dst)
	if t, row, ok := from(c); ok {
		t.Part(dst[:n], row, at)
	}
}

// stored is column c as it is stored, if that is so; else nil.
func (from columns) stored(c int, as model.DType) []byte {
	t, row, ok := from(c)
	if !ok || t.DType != as {
		return nil
	}
	n := as.RowBytes(t.Shape[len(t.Shape)-1])
	return t.Data[row*n:][:n]
}

// blocks widens column c and shows it in blocks, zeros behind the last number.
func (from columns) blocks(k, c int, tile []float32, show func(b int, x *[kernels.Block]float32)) {
	n := kernels.Blocks(k) * kernels.Block
	for at := 0; at < n; at += tileWidth {
		part := tile[:min(tileWidth, n-at)]
		from.widen(part, c, at, min(len(part), k-at))
		for i := 0; i < len(part); i += kernels.Block {
			show((at+i)/kernels.Block, (*[kernels.Block]float32)(part[i:]))
		}
	}
}
