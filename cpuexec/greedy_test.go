package cpuexec

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/cpuexec/kernels"
	"github.com/cbactor/cbactor/sampling"
)

// someGreedy are sequences of every kind: greedy, drawn, told, with processors.
func someGreedy(n int, ids ...int32) []*sequence {
	kinds := []sampling.Params{
		{}, {TopK: 1, Temperature: 0.5}, {Temperature: 1}, {Tell: sampling.Tell{Logprobs: true, Top: 2, Prompt: true}},
		{RepetitionPenalty: 1.5}, {MinNew: 3, Ends: []int32{1, 2}}, {Tell: sampling.Tell{Prompt: true}}, {},
	}
	seqs := make([]*sequence, n)
	for i := range seqs {
		seqs[i] = &sequence{ids: append(slices.Clone(ids), int32(5+i)), limit: 6, seed: uint64(i), sampling: kinds[i%len(kinds)]}
	}
	return seqs
}

// TestGreedyRows compares rows whose logits are not kept with the same ones whose logits
// are, in batches that have both.
func TestGreedyRows(t *testing.T) {
	m, set := loadModel(t, family("llama"))
	for _, name := range kernelNames() {
		for _, threads := range []int{1, 2} {
			for _, n := range []int{1, 7, 8, 70} {
				cfg := base(m, set)
				cfg.Kernels, cfg.Threads = name, threads
				kept, fast := newDriver(t, cfg, 9, true), newDriver(t, cfg, 9, false)
				fast.e.step.alone, kept.e.step.alone = 0, 0
				fast.keep = true // what is told, but not logits
				want, got := someGreedy(n, 1, 2), someGreedy(n, 1, 2)
				kept.run(want...)
				fast.run(got...)
				for i := range want {
					if !slices.Equal(got[i].out(), want[i].out()) {
						t.Errorf("%s, %d threads, sequence %d of %d: %v, with logits %v", name, threads, i, n, got[i].out(), want[i].out())
					}
					if got, want := fmt.Sprint(got[i].drawn), fmt.Sprint(want[i].drawn); got != want {
						t.Errorf("%s, %d threads, sequence %d of %d is told %s, with logits %s", name, threads, i, n, got, want)
					}
				}
			}
		}
	}
}

// TestGreedyBadRow: a greedy row that is not usable fails as one does whose logits are
// kept, and costs the greedy rows beside it nothing.
func TestGreedyBadRow(t *testing.T) {
	m, set := loadPoisoned(t)
	run := func(keep bool) (bad, good *sequence) {
		cfg := base(m, set)
		cfg.Threads = 2
		d := newDriver(t, cfg, 9, keep)
		bad = &sequence{ids: []int32{5, poison, 6}, limit: 4}
		good = &sequence{ids: []int32{5, 6}, limit: 4}
		d.run(bad, good)
		return bad, good
	}
	bad, good := run(false)
	wantBad, wantGood := run(true)
	if !errors.Is(bad.err, sampling.ErrLogits) || bad.err.Error() != wantBad.err.Error() {
		t.Errorf("fails with %v, with logits %v", bad.err, wantBad.err)
	}
	if good.err != nil || !slices.Equal(good.out(), wantGood.out()) {
		t.Errorf("the other has %v, %v, with logits %v", good.out(), good.err, wantGood.out())
	}
}

// TestBestOfThreads puts together what threads found: ties are the lowest id's, padding
// behind the vocabulary never wins, and what is not usable is told.
func TestBestOfThreads(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	row := func(at map[int]float32) []float32 {
		x := slices.Repeat([]float32{-9}, 2*kernels.Panel)
		for c := range x[40:] {
			x[40+c] = 0 // padding
		}
		for c, v := range at {
			x[c] = v
		}
		return x
	}
	none := row(nil)
	for c := range none[:40] {
		none[c] = -inf
	}
	for i, c := range []struct {
		row  []float32
		want int32
	}{
		{row(nil), 0}, {row(map[int]float32{39: -8}), 39}, {row(map[int]float32{31: -2, 32: -2}), 31}, {row(map[int]float32{32: 1, 3: 0}), 32},
		{row(map[int]float32{7: nan}), -1}, {row(map[int]float32{33: inf}), -1}, {none, -1},
	} {
		for _, set := range kernels.All() {
			s := &step{dims: dims{vocab: 40}, kernels: set, threads: 2, workers: make([]worker, 2)}
			for p := range s.workers {
				b := &s.workers[p].best
				b.reset()
				b.add(set, slices.Clone(c.row[p*kernels.Panel:][:kernels.Panel]), p, 0, 1, s.vocab)
			}
			if got := s.largest(0); got != c.want {
				t.Errorf("%s: row %d: the largest is %d, want %d", set.Name, i, got, c.want)
			}
			if s.usable(1) != (c.want >= 0) {
				t.Errorf("%s: row %d is usable: %v", set.Name, i, s.usable(1))
			}
		}
	}
}
