package cpuexec

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/cpuexec/kernels"
	"github.com/cbactor/cbactor/internal/familytest"
	"github.com/cbactor/cbactor/model"
	"github.com/cbactor/cbactor/weights"
)

// expertSource has tensors of a mixture of experts whose numbers MXFP4 can hold: as floats,
// with inputs as rows, and those of experts that are named in packed as MXFP4, with outputs as
// rows. What a name, and how often it was trained, says is which numbers it has.
type expertSource struct {
	config  *model.Config
	packed  []string // ends of names
	trained []string // likewise: they have other numbers
}

func (s expertSource) has(ends []string, name string) bool {
	return slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(name, end) })
}

func (s expertSource) Tensors() []model.Tensor {
	list := s.config.Tensors()
	for i, t := range list {
		list[i] = t.As(model.F32)
		if s.has(s.packed, t.Name) {
			list[i] = t.As(model.MXFP4)
		}
	}
	return list
}

// nibble is number i of a tensor of floats, as 4 bits that stand for 0, 0.5, 1 and so on.
func (s expertSource) nibble(name string, i int) byte {
	h := fnv.New32a()
	h.Write([]byte(name))
	h.Write(binary.LittleEndian.AppendUint32(nil, uint32(i)))
	if s.has(s.trained, name) {
		h.Write([]byte("trained"))
	}
	return byte(h.Sum32() >> 13 & 15)
}

func (s expertSource) ReadTensor(name string, dst []byte) error {
	list := s.Tensors()
	t := list[slices.IndexFunc(list, func(t model.Tensor) bool { return t.Name == name })]
	if t.DType == model.F32 {
		for i := range t.Elements() {
			x := [8]float32{0, 0.5, 1, 1.5, 2, 3, 4, 6}[s.nibble(name, i)&7] / 16
			if s.nibble(name, i) > 7 {
				x = -x
			}
			binary.LittleEndian.PutUint32(dst[4*i:], math.Float32bits(x))
		}
		return nil
	}
	experts, out, in := t.Shape[0], t.Shape[1], t.Shape[2]
	for block := range experts * out * in / 32 {
		b := dst[17*block:][:17]
		clear(b)
		b[0] = 127 - 4 // a scale of 1/16
		for j := range 32 {
			at := 32*block + j
			e, o, i := at/in/out, at/in%out, at%in
			b[1+j%16] |= s.nibble(name, (e*in+i)*out+o) << (j / 16 * 4)
		}
	}
	return nil
}

func (s expertSource) load(t *testing.T) *weights.Set {
	t.Helper()
	set, err := weights.Load(s.config, s, 1, "base")
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// A model whose experts are stored in MXFP4 takes floats of some of them, which the reference
// has with inputs as rows, also where a matrix is square and nothing in its shape tells.
// Panels of MXFP4 compute the same bits as those of floats do.
func TestFloatsOverMXFP4(t *testing.T) {
	for compute, format := range map[Compute]kernels.Format{ComputeF32: kernels.F32, ComputeBF16: kernels.MXFP4} {
		t.Run(string(compute), func(t *testing.T) { floatsOverMXFP4(t, compute, format) })
	}
}

func floatsOverMXFP4(t *testing.T, compute Compute, experts kernels.Format) {
	c := familytest.Named(t, "gpt-oss").Config(t)
	c.Intermediate, c.MoE.Intermediate = c.Hidden, c.Hidden
	run := func(set *weights.Set, compute Compute) ([]float32, *Executor) {
		set.Epoch = 1 // what the driver's batches name
		s := &sequence{ids: []int32{5, 9, 200, 31, 77, 8}, limit: 1}
		d := newDriver(t, Config{Model: c, Weights: set, Threads: 2, MaxContext: 64, MaxTokens: 64, PageSize: 16, Compute: compute, KVType: KVF32}, 64, true)
		d.run(s)
		return s.logits[0], d.e
	}
	logits := func(set *weights.Set) []float32 {
		out, _ := run(set, compute)
		return out
	}
	const gateUp, down = ".mlp.experts.gate_up_proj", ".mlp.experts.down_proj"
	floats := expertSource{config: c}
	packed := expertSource{config: c, packed: []string{gateUp, down}}
	want, _ := run(floats.load(t), ComputeF32)
	got, e := run(packed.load(t), compute)
	if !slices.Equal(got, want) {
		t.Fatal("the experts in MXFP4 are not those in floats")
	}
	if x := &e.places[0].Ready.layers[0].experts[0]; x.gateUp.format != experts || x.down.format != experts {
		t.Fatalf("experts are computed from panels in %v and %v, want %v", x.gateUp.format, x.down.format, experts)
	}
	mixed := expertSource{config: c, packed: []string{gateUp}}
	if !slices.Equal(logits(mixed.load(t)), want) {
		t.Error("a file with floats of some experts is read the wrong way round")
	}
	for _, name := range []string{gateUp, down} {
		trained := expertSource{config: c, trained: []string{name}}
		store, err := weights.NewStore(c, packed.load(t), weights.Options{})
		if err != nil {
			t.Fatal(err)
		}
		update(t, store, trained)
		if !slices.Equal(logits(store.Current()), logits(trained.load(t))) {
			t.Errorf("after an update of %s the logits are not those of the model in floats", name)
		}
	}
}

// update sends what was trained as a partial update.
func update(t *testing.T, store *weights.Store, s expertSource) {
	t.Helper()
	m := weights.Manifest{Partial: true}
	for _, tensor := range s.Tensors() {
		if s.has(s.trained, tensor.Name) {
			m.Tensors = append(m.Tensors, weights.Entry{Name: tensor.Name, DType: "F32", Shape: tensor.Shape})
		}
	}
	u, err := store.Begin("base", "trained", m)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range m.Tensors {
		data := make([]byte, 4*model.Tensor{Shape: e.Shape}.Elements())
		if err := s.ReadTensor(e.Name, data); err != nil {
			t.Fatal(err)
		}
		if err := u.Put(e.Name, e.DType, e.Shape, 0, data); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := u.Commit(); err != nil {
		t.Fatal(err)
	}
}
