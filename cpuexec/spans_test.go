package cpuexec

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/model"
	"github.com/cbactor/cbactor/weights"
)

// longModel is a small model, which may have contexts of so many tokens.
func longModel(t *testing.T, n int) (*model.Config, *weights.Set) {
	t.Helper()
	c := odd
	c.MaxPosition, c.Heads, c.KVHeads, c.HeadDim = n, 2, 1, 16
	m := newSynthetic(c)
	set, err := weights.Load(&m.Config, m, 1, "test")
	if err != nil {
		t.Fatal(err)
	}
	return &m.Config, set
}

// TestSegments computes contexts that reach over borders of segments: as one prompt on one
// thread, so that most spans are not split, and in chunks and token by token on two, among
// others, where states of others may have been left. Nothing changes a bit.
func TestSegments(t *testing.T) {
	m, set := longModel(t, 4096)
	for i, c := range []struct {
		kv          KVType
		pageSize, n int
	}{{KVF32, 32, 2047}, {KVBF16, 100, 1098}, {KVInt8, 32, 1022}, {KVInt8, 100, 2199}} {
		cfg := Config{Model: m, Weights: set, Threads: 1, PageSize: c.pageSize, MaxSlots: 3, MaxTokens: 2200, KVType: c.kv}
		s := longSequence(m, c.n, 4)
		newDriver(t, cfg, 2200, true).run(s)
		cfg.Threads, cfg.Kernels = 2, kernelNames()[i%len(kernelNames())]
		d := newDriver(t, cfg, 213, true)
		d.e.step.alone = 0
		spoilStates(d.e.step)
		other := s.again()
		d.run(append(randomSequences(m, 2, 100, 2), other)...)
		sameLogits(t, fmt.Sprintf("%+v in chunks", c), other.logits, s.logits)
	}
}

// spoilStates makes NaN of what segments have left behind.
func spoilStates(s *step) {
	for _, states := range [][]float32{s.split, s.workers[0].attention.next, s.workers[1].attention.next} {
		for i := range states {
			states[i] = float32(math.NaN())
		}
	}
}

// longSequence has a prompt of n tokens.
func longSequence(m *model.Config, n, limit int) *sequence {
	r := rand.New(rand.NewPCG(uint64(n), 3))
	s := &sequence{limit: limit}
	for range n {
		s.ids = append(s.ids, int32(r.IntN(m.Vocab)))
	}
	return s
}

// TestSegmentsAreMerged compares contexts of several segments with plain attention, which
// has none.
func TestSegmentsAreMerged(t *testing.T) {
	m, set := longModel(t, 4096)
	cfg := Config{Model: m, Weights: set, Threads: 2, MaxSlots: 2, NumBlocks: 200, MaxTokens: 1024}
	s := longSequence(m, 2100, 3)
	newDriver(t, cfg, 1024, true).run(s)
	plain := s.again()
	cfg.Attention = Plain
	newDriver(t, cfg, 1024, true).run(plain)
	for i := range s.logits {
		for j, x := range s.logits[i] {
			if d := x - plain.logits[i][j]; !(d < 1e-3 && d > -1e-3) {
				t.Fatalf("logit %d after token %d is %v, by plain attention %v", j, i, x, plain.logits[i][j])
			}
		}
	}
}

// TestSpansCoverAll lays rows of many lengths: every token is in one span, every position
// that it sees in one item, and what is split fits where its states go.
func TestSpansCoverAll(t *testing.T) {
	m, set := longModel(t, 5000)
	e := start(t, Config{Model: m, Weights: set, Threads: 1, PageSize: 24, MaxSlots: 64, MaxTokens: 512})
	s, r := e.step, rand.New(rand.NewPCG(1, 2))
	for range 50 {
		s.tokens = s.tokens[:0]
		for q := 0; len(s.tokens) < 400; q++ {
			pos := r.IntN(4900)
			for i := range 1 + r.IntN(1+99*(q%2)) {
				s.tokens = append(s.tokens, token{slot: &s.slots[q%64], pos: pos + i})
			}
		}
		s.laySpans()
		seen := make([]int, len(s.tokens))
		states := make([]int, len(s.split)/(s.heads*s.stateLen))
		for _, it := range s.rounds[0].items {
			u := &s.spans[it.span]
			cut := &u.cuts[0]
			if cut.parts > 1 {
				for i := range u.count {
					states[cut.at/(s.heads*s.stateLen)+it.segment*u.count+i]++
				}
			}
			for i := u.from; i < u.from+u.count; i++ {
				if s.tokens[i].slot != u.slot || s.tokens[i].pos != u.pos+i-u.from {
					t.Fatalf("token %d is %+v, its span %+v", i, s.tokens[i], u)
				}
				if size := segmentOf(24); cut.parts > 1 {
					seen[i] += max(0, min(size, s.tokens[i].pos+1-it.segment*size))
				} else {
					seen[i] += s.tokens[i].pos + 1
				}
			}
		}
		for i, n := range seen {
			if n != s.tokens[i].pos+1 {
				t.Fatalf("token %d at position %d sees %d positions", i, s.tokens[i].pos, n)
			}
		}
		if i := slices.IndexFunc(states, func(n int) bool { return n > 1 }); i >= 0 {
			t.Fatalf("state %d is for %d tokens", i, states[i])
		}
		if slices.IndexFunc(states, func(n int) bool { return n == 1 }) < 0 {
			t.Fatal("nothing was split")
		}
	}
}
