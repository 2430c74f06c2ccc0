package cpuexec

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/executor/suite"
	"github.com/cbactor/cbactor/model"
	"github.com/cbactor/cbactor/weights"
)

// turns is the kinds of attention of layers, in turn.
func turns(layers int, kinds ...model.Attention) []model.Attention {
	list := make([]model.Attention, layers)
	for i := range list {
		list[i] = kinds[i%len(kinds)]
	}
	return list
}

// windowed is a model of the fixtures, some layers of which see a window.
func windowed(t *testing.T, window int, kinds ...model.Attention) (*model.Config, *weights.Set) {
	t.Helper()
	c, set := loadModel(t, family("llama"))
	m := *c
	m.Attn, m.Window = turns(m.Layers, kinds...), window
	return &m, set
}

// TestAttentionOfFamilies computes random models with windows, scales, caps and sinks, and
// compares with the textbook: both implementations of attention, all types of cache. Bounds
// are those of TestShapes.
func TestAttentionOfFamilies(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 3))
	for i := range 24 {
		c := odd
		c.Layers, c.KVHeads, c.HeadDim = 3, []int{1, 2, 6}[r.IntN(3)], []int{4, 16, 20, 64}[r.IntN(4)]
		c.Window = 1 + r.IntN(60)
		c.Attn = turns(c.Layers, []model.Attention{model.Full, model.Sliding}[r.IntN(2)], model.Sliding)
		c.AttnScale, c.AttnSoftcap = []float64{0, 0.3}[r.IntN(2)], []float64{0, 0, 5}[r.IntN(3)]
		c.Sinks = r.IntN(2) == 0
		m := newSynthetic(c)
		set, err := weights.Load(&m.Config, m, 1, "test")
		if err != nil {
			t.Fatal(err)
		}
		ids := make([]int32, 40+r.IntN(40))
		for i := range ids {
			ids[i] = int32(r.IntN(c.Vocab))
		}
		want := m.logits(ids)
		cfg := Config{Model: &m.Config, Weights: set, Threads: 2, PageSize: 1 + r.IntN(40), MaxContext: 96, KVType: kvTypes[i%3], Kernels: kernelNames()[i/3%len(kernelNames())]}
		bound := map[KVType]float64{KVF32: 2e-4, KVBF16: 0.02, KVInt8: 0.05}[cfg.KVType]
		for _, cfg.Attention = range []Attention{Tiled, Plain} {
			s := &sequence{ids: slices.Clone(ids), limit: 1}
			newDriver(t, cfg, 1+r.IntN(50), true).run(s)
			if d := furthest(s.logits[0], want); !(d < bound) {
				t.Errorf("%s, %s, cache in %s, pages of %d, %d ids: logits differ by %g: %+v", cfg.Attention, cfg.Kernels, cfg.KVType, cfg.PageSize, len(ids), d, c)
			}
		}
	}
}

// TestWindowsInChunks computes contexts that reach over borders of segments and far beyond
// windows: as one prompt on one thread, and in chunks and token by token on two, among
// others, with other states left behind, over memory that is NaN. Nothing changes a bit, and
// plain attention is close.
func TestWindowsInChunks(t *testing.T) {
	c, set := longModel(t, 4096)
	for i, o := range []struct {
		kv                  KVType
		window, pageSize, n int
		top                 float64
	}{{KVF32, 70, 32, 1150, 0}, {KVBF16, 1030, 100, 2199, 20}, {KVInt8, 1037, 32, 2090, 0}, {KVInt8, 5, 33, 300, 20}} {
		m := *c
		m.Attn, m.Window, m.AttnSoftcap = turns(m.Layers, model.Sliding, model.Full), o.window, o.top
		cfg := Config{Model: &m, Weights: set, Threads: 1, PageSize: o.pageSize, MaxSlots: 3, MaxTokens: 2200, KVType: o.kv}
		s := longSequence(&m, o.n, 4)
		newDriver(t, cfg, 2200, true).run(s)
		cfg.Threads, cfg.Kernels = 2, kernelNames()[i%len(kernelNames())]
		d := newDriver(t, cfg, 213, true)
		d.e.step.alone = 0
		spoilStates(d.e.step)
		for i := range d.e.step.cache.mem {
			d.e.step.cache.mem[i] = 0xff // of any type a NaN
		}
		other := s.again()
		d.run(append(randomSequences(&m, 2, 100, 2), other)...)
		sameLogits(t, fmt.Sprintf("%+v in chunks", o), other.logits, s.logits)

		cfg.Attention = Plain
		plain := s.again()
		newDriver(t, cfg, 2200, true).run(plain)
		for j, x := range s.logits[0] {
			if d := math.Abs(float64(x - plain.logits[0][j])); !(d < 5e-3) {
				t.Fatalf("%+v: logit %d is %v, by plain attention %v", o, j, x, plain.logits[0][j])
			}
		}
	}
}

// TestWindowsConform: blocks that a window has left are handed to others, sequences of two
// groups are copied, forked and shared, and sleep.
func TestWindowsConform(t *testing.T) {
	for i, kv := range kvTypes {
		m, set := windowed(t, 9, model.Sliding, model.Full, model.Sliding)
		suite.Run(t, makeWith(m, set, Config{Threads: 1 + i%2, KVType: kv}))
	}
	m, set := windowed(t, 6, model.Sliding)
	suite.Run(t, makeWith(m, set, Config{Threads: 2}))
	m, set = windowed(t, 9, model.Full, model.Sliding)
	suite.RunSleep(t, makeWith(m, set, Config{Threads: 2}))
}

// TestWindowOfTheWholeContext is full attention, to the bit, in one group.
func TestWindowOfTheWholeContext(t *testing.T) {
	m, set := windowed(t, 64, model.Full, model.Sliding)
	full, _ := windowed(t, 0, model.Full)
	var logits [2][][]float32
	for i, m := range []*model.Config{m, full} {
		d := newDriver(t, Config{Model: m, Weights: set, Threads: 1, MaxContext: 64}, 64, true)
		if n := len(d.e.Info().Groups); n != 1 {
			t.Fatalf("%d groups", n)
		}
		s := longSequence(m, 58, 4)
		d.run(s)
		logits[i] = s.logits
	}
	sameLogits(t, "a window of the context", logits[0], logits[1])
}
