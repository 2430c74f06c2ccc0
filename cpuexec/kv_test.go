package cpuexec

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/cpuexec/kernels"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/model"
)

var kvTypes = []KVType{KVF32, KVBF16, KVInt8}

// TestChunksOfCacheTypes is TestChunks for the types of cache: prefill and decoding read
// the same rounded K and V.
func TestChunksOfCacheTypes(t *testing.T) {
	m, set := loadModel(t, family("llama-rope-linear"))
	for _, kv := range kvTypes[1:] {
		s := randomSequences(m, 1, 1, 4)[0]
		for i := range 75 {
			s.ids = append(s.ids, int32(i*37%m.Vocab))
		}
		cfg := base(m, set)
		cfg.KVType = kv
		newDriver(t, cfg, 256, true).run(s)
		for i, name := range kernelNames() {
			for j, chunk := range []int{1, 7, 32, 65} {
				if left(i + j) {
					continue
				}
				cfg.Kernels, cfg.Threads = name, someThreads[(i+j)%3]
				d := newDriver(t, cfg, chunk, true)
				d.e.step.alone = 0
				other := s.again()
				d.run(append(randomSequences(m, 3*j, 40, 3), other)...)
				sameLogits(t, fmt.Sprintf("%s, %s, %d threads, chunks of %d", kv, name, cfg.Threads, chunk), other.logits, s.logits)
			}
		}
	}
}

// TestCacheIsComputedAgain lets a sequence decode over a cache, computes it again as one
// prompt in other blocks, and moves that through the host pool: K and V of every position
// have the same bits.
func TestCacheIsComputedAgain(t *testing.T) {
	m, set := loadModel(t, family("llama"))
	const pageSize, n = 7, 50
	for _, kv := range kvTypes {
		cfg := Config{Model: m, Weights: set, Threads: 2, PageSize: pageSize, MaxContext: 64, MaxSlots: 3, KVType: kv, HostBlocks: 8}
		d := newDriver(t, cfg, 3, true)
		d.e.step.alone = 0
		first, again := slices.Clone(d.free[0][:8]), slices.Clone(d.free[0][8:16])
		s := &sequence{ids: []int32{3, 1, 4, 1, 5}, limit: n - 4}
		d.run(s)
		d.chunk = 64
		d.run(&sequence{ids: s.ids[:n:n], limit: 1})
		d.step++
		b := executor.Batch{Step: d.step, Epoch: 1}
		moved := d.free[0][:8]
		for i := range moved {
			b.Copies = append(b.Copies, executor.Copy{Kind: executor.CopyOut, From: again[i], To: int32(7 - i)},
				executor.Copy{Kind: executor.CopyIn, From: int32(7 - i), To: moved[i]})
		}
		runBatch(t, d.e, &b)
		c := &d.e.step.cache
		for layer := range m.Layers {
			for head := range m.KVHeads {
				for p := range n {
					want := position(c, first[p/pageSize], layer, head, p%pageSize)
					for what, table := range map[string][]int32{"computed again": again, "moved": moved} {
						if got := position(c, table[p/pageSize], layer, head, p%pageSize); !slices.Equal(got, want) {
							t.Fatalf("%s, layer %d, head %d, position %d, %s: %v, want %v", kv, layer, head, p, what, got, want)
						}
					}
				}
			}
		}
	}
}

// position is K and V of one position, as they are read.
func position(c *cache, block int32, layer, head, at int) []float32 {
	kv := make([]float32, 2*c.headDim)
	c.key(block, layer, head, at, kv[:c.headDim])
	c.value(block, layer, head, at, kv[c.headDim:])
	return kv
}

// TestCacheWrites writes all positions of pages, in any order and over NaN, and reads them
// back: within what the type rounds, and nothing else has changed.
func TestCacheWrites(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	for _, set := range kernels.All() {
		for _, kv := range kvTypes {
			for _, pageSize := range []int{1, 3, 8, 33} {
				d := dims{layers: 2, kvHeads: 2, headDim: 20}
				l := layoutOf(&Config{Model: &model.Config{Layers: d.layers}, KVType: kv, PageSize: pageSize}, &d)
				c := cache{layout: l, mem: slices.Repeat([]byte{0xff}, 2*l.groups[0].block+readBehind)}
				for layer := range d.layers { // one head of each
					want := make([][]float32, pageSize)
					for _, at := range r.Perm(pageSize) {
						for range 2 * d.headDim {
							want[at] = append(want[at], float32(r.NormFloat64()))
						}
						c.write(set, 1, layer, 1-layer, at, want[at][:d.headDim], want[at][d.headDim:])
					}
					for at := range want {
						checkRounded(t, fmt.Sprintf("%s, %s, page of %d, position %d", set.Name, kv, pageSize, at), kv, position(&c, 1, layer, 1-layer, at), want[at])
					}
				}
				for _, untouched := range [][]byte{c.mem[:l.at(1, 0, 1)], c.mem[l.at(1, 1, 1):]} {
					if i := slices.IndexFunc(untouched, func(b byte) bool { return b != 0xff }); i >= 0 {
						t.Errorf("%s, %s, page of %d: byte %d of another part has changed", set.Name, kv, pageSize, i)
					}
				}
			}
		}
	}
}

// checkRounded compares K and V of a position with what was written.
func checkRounded(t *testing.T, what string, kv KVType, got, want []float32) {
	t.Helper()
	half := len(want) / 2
	for i, x := range want {
		most := 0.0
		for _, y := range want[i/half*half:][:half] {
			most = max(most, math.Abs(float64(y)))
		}
		bound := map[KVType]float64{KVF32: 0, KVBF16: math.Abs(float64(x)) / 256, KVInt8: most / 253}[kv]
		if !(math.Abs(float64(got[i]-x)) <= bound) {
			t.Fatalf("%s: value %d is %v, want %v within %g", what, i, got[i], x, bound)
		}
	}
}

// TestPlainAttentionOfCacheTypes compares tiled attention with plain attention over the
// same rounded cache.
func TestPlainAttentionOfCacheTypes(t *testing.T) {
	m, set := loadModel(t, family("llama"))
	for _, kv := range kvTypes[1:] {
		var want [][]float32
		for _, attention := range []Attention{Plain, Tiled} {
			s := &sequence{limit: 1}
			for i := range 130 {
				s.ids = append(s.ids, int32(i*i*31%m.Vocab))
			}
			newDriver(t, Config{Model: m, Weights: set, Threads: 1, MaxContext: 192, KVType: kv, Attention: attention}, 64, true).run(s)
			if want == nil {
				want = s.logits
				continue
			}
			for j, x := range s.logits[0] {
				if d := x - want[0][j]; !(d < 5e-3 && d > -5e-3) {
					t.Errorf("%s: logit %d is %v, by plain attention %v", kv, j, x, want[0][j])
				}
			}
		}
	}
}

func TestHeadsThatInt8Takes(t *testing.T) {
	m, set := loadModel(t, family("llama"))
	c := *m
	for _, c.HeadDim = range []int{6, 1028} {
		if _, err := New(Config{Model: &c, Weights: set, KVType: KVInt8}); !errors.Is(err, ErrConfig) {
			t.Errorf("heads of %d elements: %v", c.HeadDim, err)
		}
		if _, err := Plan(Config{Model: &c, KVType: KVBF16}); err != nil {
			t.Errorf("%d elements in bf16: %v", c.HeadDim, err)
		}
	}
	c.HeadDim = 1024
	if _, err := Plan(Config{Model: &c, KVType: KVInt8}); err != nil {
		t.Errorf("heads of %d elements: %v", c.HeadDim, err)
	}
	if _, err := Plan(Config{Model: m, KVType: "fp8"}); !errors.Is(err, ErrConfig) {
		t.Errorf("fp8: %v", err)
	}
}
