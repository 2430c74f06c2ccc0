package cpuexec

import (
	"fmt"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/executor/suite"
)

func TestConformanceOfPlainAttention(t *testing.T) {
	m, set := loadModel(t, family("llama"))
	suite.Run(t, makeWith(m, set, Config{Threads: 1, Attention: Plain}))
}

// TestPlainAttention computes a long sequence in many ways: nothing but the sequence
// changes a bit, not the page size either; tiled attention is close, and no more.
func TestPlainAttention(t *testing.T) {
	m, set := loadModel(t, family("llama-rope-linear"))
	s := &sequence{limit: 3}
	for i := range 400 {
		s.ids = append(s.ids, int32(i*i*31%m.Vocab))
	}
	long := Config{Model: m, Weights: set, Threads: 1, MaxContext: 512, MaxSlots: 12, MaxTokens: 512, Attention: Plain}
	newDriver(t, long, 512, true).run(s)
	names := kernelNames()
	for i, c := range []struct{ threads, page, chunk, others int }{{1, 5, 300, 2}, {2, 32, 64, 11}, {2, 100, 333, 0}} {
		cfg := long
		cfg.Threads, cfg.PageSize, cfg.Kernels = c.threads, c.page, names[i%len(names)]
		d := newDriver(t, cfg, c.chunk, true)
		d.e.step.alone = 0
		other := s.again()
		d.run(append(randomSequences(m, c.others, 20, 4), other)...)
		sameLogits(t, fmt.Sprintf("%s, %+v", cfg.Kernels, c), other.logits, s.logits)
	}
	tiled := long
	tiled.Attention = ""
	other := s.again()
	newDriver(t, tiled, 512, true).run(other)
	if !slices.Equal(other.out(), s.out()) {
		t.Fatalf("tokens are %v, by tiled attention %v", s.out(), other.out())
	}
	equal := true
	for i := range s.logits {
		for j, x := range s.logits[i] {
			d := x - other.logits[i][j]
			if equal = equal && d == 0; !(d < 1e-3 && d > -1e-3) {
				t.Fatalf("logit %d of token %d is %v, by tiled attention %v", j, i, x, other.logits[i][j])
			}
		}
	}
	if equal {
		t.Error("every logit is that of tiled attention: both are the same")
	}
}
