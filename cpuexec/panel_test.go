package cpuexec

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/cpuexec/kernels"
	"github.com/cbactor/cbactor/model"
	"github.com/cbactor/cbactor/weights"
)

// half widens a half at a place.
func half(b []byte, at int) (x [1]float32) {
	model.Dequantize(x[:], b[at:], model.F16)
	return x
}

// inPanel is number k of column c of a panel, read as the formats are described.
func inPanel(f kernels.Format, panel []byte, k, c, of int) float32 {
	switch f {
	case kernels.BF16:
		h := binary.NativeEndian.Uint16(panel[2*(k/2*64+c/16*32+c%16*2+k%2):])
		return math.Float32frombits(uint32(h) << 16)
	case kernels.MXFP4:
		b, x := panel[k/32*576:], [32]float32{}
		q := binary.LittleEndian.Uint32(b[k%32/8*128+4*c:]) >> (k % 8 * 4) & 15
		model.Dequantize(x[:], append([]byte{127, byte(q)}, make([]byte, 15)...), model.MXFP4)
		return math.Float32frombits(uint32(binary.LittleEndian.Uint16(b[512+2*c:]))<<16) * (2 * x[0])
	case kernels.Q8:
		b := panel[k/32*1088:]
		q := int8(b[c/16*512+k%32/4*64+c%16*4+k%4] ^ 0x80)
		return half(b, 1024+2*c)[0] * float32(q)
	case kernels.Q4:
		b := panel[k/32*640:]
		return float32(half(b, 512+2*c)[0]*nibble(b, k, c)) + half(b, 576+2*c)[0]
	case kernels.Q40:
		b := panel[k/32*576:]
		return half(b, 512+2*c)[0] * (nibble(b, k, c) - 8)
	case kernels.Q4K:
		head := panel[k/256*4736:]
		b := head[128+k%256/32*576:]
		return float32(half(head, 2*c)[0]*float32(b[512+c])*nibble(b, k, c)) + half(head, 64+2*c)[0]*float32(b[544+c])
	case kernels.Q5K:
		head := panel[k/256*5760:]
		b := head[128+k%256/32*704:]
		q := nibble(b, k, c) + 16*float32(b[512+c/16*64+c%16*4+k%4]>>(k%32/4)&1)
		return float32(half(head, 2*c)[0]*float32(b[640+c])*q) + half(head, 64+2*c)[0]*float32(b[672+c])
	case kernels.Q6K:
		head := panel[k/256*6720:]
		b := head[64+k%256/32*832:]
		at := c%16*4 + k%4
		q := b[c/16*256+k%32/8*64+at]>>(k/4%2*4)&15 | b[512+c/16*128+k%32/16*64+at]>>(k%16/4*2)&3<<4
		return half(head, 2*c)[0] * float32(int8(b[768+k%32/16*32+c])) * float32(int8(q)-32)
	case kernels.C8:
		q := int8(panel[k/4*128+c/16*64+c%16*4+k%4] ^ 0x80)
		return math.Float32frombits(binary.LittleEndian.Uint32(panel[(of+31)/32*1024+4*c:])) * float32(q)
	}
	return math.Float32frombits(binary.NativeEndian.Uint32(panel[4*(k*32+c):]))
}

// nibble is one of 4 bits.
func nibble(b []byte, k, c int) float32 {
	return float32(b[c/16*256+k%16/4*64+c%16*4+k%4] >> (k % 32 / 16 * 4) & 15)
}

// TestPanelsHaveWhatIsStored widens what is packed of models in all types and of odd
// sizes: it is the stored number where the panel can hold it, else the nearest one that
// its block has.
func TestPanelsHaveWhatIsStored(t *testing.T) {
	for _, c := range append(computeCases, computeCase{"f32", odd, always(model.F32), Config{}, 0}) {
		t.Run(c.name, func(t *testing.T) {
			m, set := c.load(t)
			e := start(t, c.with(m, set))
			all, exact := e.step.joints(), 0
			for l := range e.places[0].Ready.layers {
				p := packer{set: set}
				for i := range all {
					j := &all[i]
					from := p.columns(j, false, func(module string) model.Rows { return m.Weight(l, module) })
					column := 0
					for _, m := range e.places[0].Ready.layers[l].matrices[i] {
						width := m.count() * kernels.Panel
						exact += checkMatrix(t, &m, from.behind(column), width)
						column += width
					}
					if column != j.width {
						t.Errorf("layer %d, joint %d has %d columns, want %d", l, i, column, j.width)
					}
				}
			}
			head, _ := set.Tensor(headName(&m.Config))
			exact += checkMatrix(t, &e.places[0].Ready.head, func(c int) (weights.Tensor, int, bool) { return head, c, c < m.Vocab }, m.Vocab)
			if a := e.places[0].Ready.area; len(a.mem)-a.used >= cacheLine {
				t.Errorf("of %d bytes that are planned %d are used", len(a.mem), a.used)
			}
			t.Logf("%d columns are exact", exact)
		})
	}
}

// checkMatrix compares so many columns of a matrix, and counts those that are exact.
func checkMatrix(t *testing.T, m *matrix, from columns, width int) (exact int) {
	t.Helper()
	stored := make([]float32, m.k)
	for c := range width {
		tensor, row, ok := from(c)
		clear(stored)
		if ok {
			tensor.Row(stored, row)
		}
		most := float32(0)
		for _, v := range stored {
			most = max(most, v, -v)
		}
		bound := most * map[kernels.Format]float32{kernels.BF16: 0x1p-8, kernels.MXFP4: 0.26, kernels.Q8: 0.57 / 127, kernels.Q4: 0.53 * 2 / 15, kernels.C8: 0.51 / 127}[m.format]
		same, has := blockFormat(tensor.DType)
		if m.format == kernels.F32 || ok && (has && same == m.format || tensor.DType == model.BF16 && m.format == kernels.BF16) {
			bound = 0
			exact++
		}
		for k, want := range stored {
			got := inPanel(m.format, m.panel(c/kernels.Panel), k, c%kernels.Panel, m.k)
			if !(math.Abs(float64(got-want)) <= float64(bound)) {
				t.Fatalf("%s: number %d of column %d is %v, %v is stored as %s", m.format, k, c, got, want, tensor.DType)
			}
		}
	}
	return exact
}

// TestFormats chooses formats from what is stored.
func TestFormats(t *testing.T) {
	for _, c := range []struct {
		cfg    Config
		stored []model.DType
		want   kernels.Format
	}{
		{Config{}, []model.DType{model.Q8_0}, kernels.F32},
		{bf16, []model.DType{model.Q8_0}, kernels.BF16},
		{int8q8, []model.DType{model.Q4_1}, kernels.Q4},
		{int8q8, []model.DType{model.Q4_1, model.Q8_0}, kernels.Q8},
		{int8q8, []model.DType{model.Q4_1, model.BF16}, kernels.Q8},
		{int8q8, []model.DType{model.Invalid}, kernels.Q8},
		{int8q4, []model.DType{model.Q4_1, model.BF16, model.F16, model.F32}, kernels.Q4},
		{int8q4, []model.DType{model.Q4_1, model.Q8_0}, kernels.Q8},
		{column, []model.DType{model.Q4_1}, kernels.C8},
		{int8q8, []model.DType{model.Q4_0, model.Q4_0}, kernels.Q40},
		{int8q8, []model.DType{model.Q4_K, model.Q4_K, model.Q4_K}, kernels.Q4K},
		{int8q4, []model.DType{model.Q5_K}, kernels.Q5K},
		{int8q4, []model.DType{model.Q6_K}, kernels.Q6K},
		{int8q8, []model.DType{model.Q4_K, model.Q4_K, model.Q6_K}, kernels.Q8},
		{int8q4, []model.DType{model.Q4_0, model.F32}, kernels.Q8},
		{int8q8, []model.DType{model.MXFP4}, kernels.Q8},
		{bf16, []model.DType{model.MXFP4, model.MXFP4}, kernels.MXFP4},
		{bf16, []model.DType{model.MXFP4, model.BF16}, kernels.BF16},
	} {
		cfg := c.cfg
		cfg.Model = &even
		cfg, err := cfg.withDefaults()
		if err != nil {
			t.Fatal(err)
		}
		if got := cfg.format(c.stored...); got != c.want {
			t.Errorf("%s %s of %v: %s, want %s", cfg.Compute, cfg.Quantize, c.stored, got, c.want)
		}
	}
}

// TestPieces cuts q, k and v where another format begins, unless a panel would have two.
func TestPieces(t *testing.T) {
	of := func(alternate bool, outs ...int) *joint {
		j := &joint{in: 256, alternate: alternate}
		for _, n := range outs {
			j.modules = append(j.modules, module{"", n})
		}
		j.width = padded(outputs(j.modules))
		return j
	}
	q4, q5, q6, q8 := model.Q4_K, model.Q5_K, model.Q6_K, model.Q8_0
	for _, c := range []struct {
		what   string
		cfg    Config
		j      *joint
		stored []model.DType
		want   []piece
	}{
		{"one type", int8q8, of(false, 64, 32, 32), []model.DType{q4, q4, q4}, []piece{{kernels.Q4K, 0, 3, 0, 128}}},
		{"the values in another", int8q8, of(false, 64, 32, 40), []model.DType{q4, q4, q6}, []piece{{kernels.Q4K, 0, 2, 0, 96}, {kernels.Q6K, 2, 3, 96, 64}}},
		{"the queries in another", int8q8, of(false, 64, 20, 12), []model.DType{q4, q8, q8}, []piece{{kernels.Q4K, 0, 1, 0, 64}, {kernels.Q8, 1, 3, 64, 32}}},
		{"three", int8q8, of(false, 32, 32, 32), []model.DType{q4, q5, q6}, []piece{{kernels.Q4K, 0, 1, 0, 32}, {kernels.Q5K, 1, 2, 32, 32}, {kernels.Q6K, 2, 3, 64, 32}}},
		{"floats beside", int8q4, of(false, 32, 32, 32), []model.DType{model.BF16, q4, model.F32}, []piece{{kernels.Q4, 0, 1, 0, 32}, {kernels.Q4K, 1, 2, 32, 32}, {kernels.Q4, 2, 3, 64, 32}}},
		{"within a panel", int8q8, of(false, 64, 16, 16), []model.DType{q4, q4, q6}, []piece{{kernels.Q8, 0, 3, 0, 96}}},
		{"in turn", int8q8, of(true, 64, 64), []model.DType{q4, q6}, []piece{{kernels.Q8, 0, 2, 0, 128}}},
		{"in f32", Config{Compute: ComputeF32}, of(false, 64, 16, 16), []model.DType{q4, q4, q6}, []piece{{kernels.F32, 0, 3, 0, 96}}},
		{"by column", column, of(false, 64, 32, 32), []model.DType{q4, q4, q6}, []piece{{kernels.C8, 0, 3, 0, 128}}},
	} {
		if got := c.cfg.pieces(c.j, c.stored); !slices.Equal(got, c.want) {
			t.Errorf("%s: %+v, want %+v", c.what, got, c.want)
		}
	}
}
