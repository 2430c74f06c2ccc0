package cpuexec

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/model"
	"github.com/cbactor/cbactor/sampling"
	"github.com/cbactor/cbactor/weights"
)

// sameLogits compares logits to the bit.
func sameLogits(t *testing.T, what string, got, want [][]float32) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d rows of logits, want %d", what, len(got), len(want))
	}
	for i := range want {
		for j := range want[i] {
			if math.Float32bits(got[i][j]) != math.Float32bits(want[i][j]) {
				t.Fatalf("%s: logit %d after token %d is %v, want %v", what, j, i, got[i][j], want[i][j])
			}
		}
	}
}

// randomSequences have prompts of 1 to longest tokens and generate limit more.
func randomSequences(m *model.Config, n, longest, limit int) []*sequence {
	r := rand.New(rand.NewPCG(uint64(n), 7))
	seqs := make([]*sequence, n)
	for i := range seqs {
		ids := make([]int32, 1+r.IntN(longest))
		for j := range ids {
			ids[j] = int32(r.IntN(m.Vocab))
		}
		seqs[i] = &sequence{ids: ids, limit: limit, seed: uint64(i), sampling: sampling.Params{Temperature: float32(i % 2)}}
	}
	return seqs
}

// again is s before it ran.
func (s *sequence) again() *sequence {
	return &sequence{ids: slices.Clone(s.ids[:s.prompt]), limit: s.limit, seed: s.seed, sampling: s.sampling, adapter: s.adapter}
}

// sized is how much of something a test has: less in a short run.
func sized(full, short int) int {
	if testing.Short() {
		return short
	}
	return full
}

// left says that a short run leaves a case of this number to another instruction set.
func left(number int) bool { return testing.Short() && number%2 > 0 && len(kernelNames()) > 1 }

// someThreads are numbers of threads: one, as many as share most steps evenly, and more than
// some steps have tokens.
var someThreads = [...]int{1, 2, 5}

// base is the configuration that the others are compared with: one thread.
func base(m *model.Config, set *weights.Set) Config {
	return Config{Model: m, Weights: set, Threads: 1, MaxContext: 192, MaxSlots: 130, MaxTokens: 256}
}

// TestChunks cuts prompts into chunks of any size, on every instruction set, each by some
// number of threads: not a bit of the logits changes, decoding included.
func TestChunks(t *testing.T) {
	m, set := loadModel(t, family("llama-rope-linear"))
	s := randomSequences(m, 1, 1, 6)[0]
	for i := range 100 {
		s.ids = append(s.ids, int32(i*37%m.Vocab))
	}
	newDriver(t, base(m, set), 256, true).run(s)
	for k, name := range kernelNames() {
		for i, chunk := range []int{1, 2, 7, 32, 64, 65} {
			if left(i + k) {
				continue
			}
			cfg := base(m, set)
			cfg.Kernels, cfg.Threads = name, someThreads[(i+k)%3]
			d := newDriver(t, cfg, chunk, true)
			d.e.step.alone = 0
			other := s.again()
			d.run(other)
			sameLogits(t, fmt.Sprintf("%s, %d threads, chunks of %d", name, cfg.Threads, chunk), other.logits, s.logits)
		}
	}
}

// TestBatchSizes runs one sequence alone and among others.
func TestBatchSizes(t *testing.T) {
	m, set := loadModel(t, family("llama"))
	all := randomSequences(m, 130, 12, 3)
	alone := newDriver(t, base(m, set), 8, true)
	for _, i := range []int{0, 1, 2, 77, 129} {
		alone.run(all[i])
	}
	for _, n := range []int{2, 3, 5, 8, 9, 33, 64, 65, 130} {
		cfg := base(m, set)
		cfg.Threads = someThreads[n%3]
		d := newDriver(t, cfg, 5, true)
		d.e.step.alone = 0
		rand.Shuffle(len(d.free[0]), func(i, j int) { d.free[0][i], d.free[0][j] = d.free[0][j], d.free[0][i] })
		batch := make([]*sequence, n)
		for i := range batch {
			batch[i] = &sequence{ids: slices.Clone(all[i].ids), limit: 3, seed: all[i].seed, sampling: all[i].sampling}
			if all[i].prompt > 0 {
				batch[i] = all[i].again()
			}
		}
		d.run(batch...)
		for _, i := range []int{0, 1, 2, 77, 129} {
			if i >= n {
				break
			}
			what := fmt.Sprintf("sequence %d of %d", i, n)
			sameLogits(t, what, batch[i].logits, all[i].logits)
			if !slices.Equal(batch[i].out(), all[i].out()) {
				t.Errorf("%s: tokens %v, alone %v", what, batch[i].out(), all[i].out())
			}
		}
	}
}

// TestPageSizes computes the same sequence over pages of many sizes: tiles, and so
// the last bits, may differ, tokens with a lead may not.
func TestPageSizes(t *testing.T) {
	m, set := loadModel(t, "tiny")
	prompt := []int32{0, 327, 329, 259, 323}
	for _, kv := range kvTypes {
		var want *sequence
		bound := map[KVType]float32{KVF32: 1e-3, KVBF16: 1e-2, KVInt8: 1e-2}[kv]
		for _, size := range []int{32, 1, 2, 5, 16, 31, 33, 64, 100} {
			cfg := base(m, set)
			cfg.PageSize, cfg.KVType = size, kv
			s := &sequence{ids: slices.Clone(prompt), limit: 100}
			newDriver(t, cfg, 64, true).run(s)
			if want == nil {
				want = s
			}
			for i := range want.out() {
				if lead(want.logits[i]) < bound {
					break
				}
				if s.out()[i] != want.out()[i] {
					t.Fatalf("%s, page size %d: token %d is %d, with 32 it is %d", kv, size, i, s.out()[i], want.out()[i])
				}
			}
		}
	}
}

// lead is the distance of the two largest logits.
func lead(logits []float32) float32 {
	first, second := float32(math.Inf(-1)), float32(math.Inf(-1))
	for _, v := range logits {
		if v > first {
			first, second = v, first
		} else {
			second = max(second, v)
		}
	}
	return first - second
}
