package gpuexec

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/cbactor/cbactor/cuda/kernels"
	"github.com/cbactor/cbactor/internal/familytest"
	"github.com/cbactor/cbactor/model"
	"github.com/cbactor/cbactor/weights"
)

// unpacked is row r of a panel, as kernels.Format says where its numbers lie.
func unpacked(f kernels.Format, panel []byte, r int) (row []float32) {
	half := func(at int) float32 { return model.FromF16(binary.LittleEndian.Uint16(panel[at:])) }
	for len(panel) > 0 {
		for i := range 32 {
			if f == kernels.Q8 {
				row = append(row, half(1024+2*r)*float32(int(panel[32*r+i])-128))
				continue
			}
			word := binary.LittleEndian.Uint32(panel[16*r+i/8*4:])
			q := word >> (i % 8 / 2 * 4) >> (i % 2 * 16) & 15
			row = append(row, half(512+2*r)*float32(q)+half(576+2*r))
		}
		panel = panel[f.PanelBytes(32):]
	}
	return row
}

// packedRow is row i of a fill.
func packedRow(f *fill, set *weights.Set, i int) []float32 {
	data := make([]byte, f.pieceBytes())
	for j := range data {
		data[j] = 0x77 // what was there before
	}
	(&filler{set: set}).piece(f, data, i/32)
	return unpacked(f.format, data, i%32)
}

// fillOf is what fills a matrix.
func fillOf(t *testing.T, fills []fill, m *matrix) *fill {
	t.Helper()
	for i := range fills {
		if fills[i].at == m.At {
			return &fills[i]
		}
	}
	t.Fatal("nothing fills the matrix")
	return nil
}

// TestPanelsHaveWhatIsStored looks at blocks that are stored as they are on the device, of gate and up in
// turn.
func TestPanelsHaveWhatIsStored(t *testing.T) {
	for _, as := range []model.DType{model.Q8_0, model.Q4_1, model.Q4_0} {
		c, set := tinyAs(t, as, 1)
		p, fills, _ := layParameters(&Config{Model: c, Stored: set.Tensors()}, 1<<20)
		f := fillOf(t, fills, &p.layers[1].gateUp)
		for _, at := range []struct {
			module string
			turn   int
		}{{"mlp.gate_proj", 0}, {"mlp.up_proj", 1}} {
			tensor, _ := set.Tensor(c.Weight(1, at.module).Tensor)
			for _, i := range []int{0, 17, c.Intermediate - 1} {
				want := make([]float32, c.Hidden)
				tensor.Row(want, i)
				for k, x := range packedRow(f, set, 2*i+at.turn) {
					if x != want[k] {
						t.Fatalf("%s: number %d of output %d of %s is %g, want %g", as, k, i, at.module, x, want[k])
					}
				}
			}
		}
	}
}

// TestPanelsOfFloats looks at floats that are quantised, of sizes that are no multiples of 32, and at
// rows that the model has not.
func TestPanelsOfFloats(t *testing.T) {
	c, set := loadModel(t, familytest.Named(t, "qwen2-odd").Folder(t))
	for _, q := range []Quantize{QuantizeQ8, QuantizeQ4} {
		p, fills, _ := layParameters(&Config{Model: c, Stored: set.Tensors(), Quantize: q}, 1<<20)
		m := &p.layers[1].down
		f := fillOf(t, fills, m)
		for i := range m.n {
			row := packedRow(f, set, i)
			for k, x := range row[:c.Intermediate] {
				want := stored(t, set, c.Weight(1, "mlp.down_proj").Tensor, i, k)
				if d := math.Abs(float64(x - want)); d > 0.05 {
					t.Fatalf("%s: number %d of output %d is %g, want %g", q, k, i, x, want)
				}
			}
		}
		if m.n%32 == 0 || c.Intermediate%32 == 0 {
			t.Fatalf("%d rows of %d show nothing of padding", m.n, c.Intermediate)
		}
		for k, x := range packedRow(f, set, m.n) {
			if x != 0 {
				t.Errorf("%s: number %d behind the last row is %g, want 0", q, k, x)
			}
		}
	}
}
