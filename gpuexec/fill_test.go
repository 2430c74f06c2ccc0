package gpuexec

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/internal/familytest"
	"github.com/cbactor/cbactor/model"
	"github.com/cbactor/cbactor/weights"
)

// made is all rows of a fill, as numbers.
func made(f *fill, set *weights.Set) (rows [][]float32) {
	w := &filler{set: set}
	for i := range f.pieces() {
		data := slices.Repeat([]byte{0xff}, f.pieceBytes()) // NaN where nothing is written
		w.piece(f, data, i)
		var row []float32
		for ; len(data) > 0; data = data[min(len(data), f.elementBytes()):] {
			if f.elementBytes() == 4 {
				row = append(row, math.Float32frombits(binary.LittleEndian.Uint32(data)))
			} else {
				row = append(row, math.Float32frombits(uint32(binary.LittleEndian.Uint16(data))<<16))
			}
		}
		rows = append(rows, row)
	}
	return rows
}

func (f *fill) elementBytes() int {
	if f.width == 0 || f.float {
		return 4
	}
	return 2
}

// stored is number i of row of a tensor.
func stored(t *testing.T, set *weights.Set, name string, row, i int) float32 {
	t.Helper()
	tensor, ok := set.Tensor(name)
	if !ok {
		t.Fatalf("there is no %s", name)
	}
	numbers := make([]float32, tensor.Shape[len(tensor.Shape)-1])
	tensor.Row(numbers, row)
	return numbers[i]
}

func rounded(x float32) float32 { return math.Float32frombits(uint32(model.ToBF16(x)) << 16) }

// parametersOf finds the fills of a family's model by where they lie.
func parametersOf(t *testing.T, name string) (*model.Config, *weights.Set, *parameters, map[uint64]*fill) {
	t.Helper()
	for _, m := range familytest.Models(t) {
		if m.Name != name {
			continue
		}
		c, set := loadModel(t, m.Folder(t))
		p, fills, _ := layParameters(&Config{Model: c}, 1<<20)
		by := map[uint64]*fill{}
		for i := range fills {
			by[uint64(fills[i].at)] = &fills[i]
		}
		return c, set, p, by
	}
	t.Skipf("there is no model %s", name)
	return nil, nil, nil, nil
}

// TestGateAndUpTakeTurns looks at the rows of a joint of gate and up that is stored as one tensor, and of
// one that is stored as two.
func TestGateAndUpTakeTurns(t *testing.T) {
	for _, name := range []string{"phi3", "qwen2-odd"} {
		c, set, p, by := parametersOf(t, name)
		rows := made(by[uint64(p.layers[1].gateUp.At)], set)
		if len(rows) != 2*c.Intermediate || len(rows[0]) != padded(c.Hidden) {
			t.Fatalf("%s: %d rows of %d", name, len(rows), len(rows[0]))
		}
		for i := range c.Intermediate {
			for j, module := range []string{"mlp.gate_proj", "mlp.up_proj"} {
				r := c.Weight(1, module)
				if got, want := rows[2*i+j][3], rounded(stored(t, set, r.Tensor, r.First+i, 3)); got != want {
					t.Fatalf("%s: output %d of %s begins with %g, want %g", name, i, module, got, want)
				}
			}
		}
		for _, x := range rows[0][c.Hidden:] {
			if x != 0 {
				t.Errorf("%s: a row is padded with %g", name, x)
			}
		}
	}
}

// TestBiasesAreJoined looks at the biases of q, k and v, one behind the other.
func TestBiasesAreJoined(t *testing.T) {
	c, set, p, by := parametersOf(t, "qwen2-odd")
	got := made(by[uint64(p.layers[0].qkv.bias)], set)[0]
	for module, n := range map[string]int{"self_attn.q_proj": 0, "self_attn.k_proj": c.Heads * c.HeadDim, "self_attn.v_proj": (c.Heads + c.KVHeads) * c.HeadDim} {
		if want := stored(t, set, c.Bias(0, module).Tensor, 0, 1); got[n+1] != want {
			t.Errorf("number 1 of the bias of %s is %g, want %g", module, got[n+1], want)
		}
	}
	if len(got) != (c.Heads+2*c.KVHeads)*c.HeadDim {
		t.Errorf("%d numbers", len(got))
	}
}

// TestExpertsLieOneBehindTheOther looks at experts that are stored with their inputs as rows, and whose
// gate and up take turns in the file already.
func TestExpertsLieOneBehindTheOther(t *testing.T) {
	c, set, p, by := parametersOf(t, "gpt-oss-odd")
	m := &p.layers[0].down
	for e := range c.MoE.Experts {
		f := by[uint64(m.At)+uint64(2*e*m.n*m.k)]
		if f == nil {
			t.Fatalf("expert %d has no matrix", e)
		}
		r := c.ExpertWeight(0, e, "down_proj")
		tensor, _ := set.Tensor(r.Tensor)
		tensor.Turned = tensor.Transposed()
		want := make([]float32, c.MoE.Intermediate)
		tensor.Row(want, e*c.Hidden+2)
		if got := made(f, set)[2]; got[1] != rounded(want[1]) {
			t.Errorf("expert %d: number 1 of output 2 is %g, want %g", e, got[1], rounded(want[1]))
		}
		bias := made(by[uint64(m.bias)+uint64(4*e*m.n)], set)[0]
		if want := stored(t, set, c.ExpertBias(0, e, "down_proj").Tensor, e, 2); bias[2] != want {
			t.Errorf("expert %d: bias 2 is %g, want %g", e, bias[2], want)
		}
	}
	up := c.ExpertBias(0, 1, "up_proj")
	bias := made(by[uint64(p.layers[0].gateUp.bias)+uint64(4*p.layers[0].gateUp.n)], set)[0]
	if want := stored(t, set, up.Tensor, 1, up.First+2*up.Step); bias[2*2+1] != want {
		t.Errorf("bias of up 2 is %g, want %g", bias[5], want)
	}
}

// TestNormsHaveTheirOffset looks at Gemma's, whose weights are stored less one.
func TestNormsHaveTheirOffset(t *testing.T) {
	_, set, p, by := parametersOf(t, "gemma2")
	if got, want := made(by[uint64(p.norm)], set)[0][4], 1+stored(t, set, "model.norm.weight", 0, 4); got != want {
		t.Errorf("weight 4 of the last norm is %g, want %g", got, want)
	}
}
