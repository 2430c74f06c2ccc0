package cpuexec

import (
	"fmt"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/internal/familytest"
	"github.com/cbactor/cbactor/sampling"
)

// TestFamiliesAreTheReference compares logits, greedy tokens and log-probabilities of every
// family with the reference's, for each prompt alone and all of them together, in chunks and
// pages of several sizes, on every instruction set.
func TestFamiliesAreTheReference(t *testing.T) {
	for _, m := range familytest.Models(t) {
		t.Run(m.Name, func(t *testing.T) {
			c, set := loadModel(t, m.Folder(t))
			r := familyRun{t: t, golden: m.Golden(t), config: Config{Model: c, Weights: set, Threads: 2, MaxContext: 256, MaxTokens: 64}}
			for i, name := range kernelNames() {
				r.config.Kernels = name
				if i > 0 { // sets give the same bits, as other tests show
					r.together(64, 32)
					continue
				}
				r.alone(64, 32)
				for _, page := range []int{4, 16, 32} {
					for _, chunk := range []int{1, 7, 64} {
						r.together(chunk, page)
					}
				}
			}
			t.Logf("golden: %s: %d cases, logits differ by %.2g at most, %d greedy tokens equal", m.Name, r.cases, r.worst, r.tokens)
		})
	}
}

// familyRun compares a model with its golden.
type familyRun struct {
	t      *testing.T
	golden *familytest.Golden
	config Config

	cases, tokens int
	worst         float64
}

func (r *familyRun) sequence(i int) *sequence {
	return &sequence{ids: slices.Clone(r.golden.Prompts[i]), limit: 24, sampling: sampling.Params{Tell: sampling.Tell{Logprobs: true}}}
}

func (r *familyRun) alone(chunk, page int) {
	for i := range r.golden.Prompts {
		s := r.sequence(i)
		r.config.PageSize = page
		newDriver(r.t, r.config, chunk, true).run(s)
		r.check(fmt.Sprintf("%s, alone", r.config.Kernels), i, s)
	}
}

func (r *familyRun) together(chunk, page int) {
	all := make([]*sequence, len(r.golden.Prompts))
	for i := range all {
		all[i] = r.sequence(i)
	}
	r.config.PageSize = page
	newDriver(r.t, r.config, chunk, true).run(all...)
	for i, s := range all {
		r.check(fmt.Sprintf("%s, chunks of %d, pages of %d", r.config.Kernels, chunk, page), i, s)
	}
}

func (r *familyRun) check(what string, i int, s *sequence) {
	r.t.Helper()
	r.cases++
	r.worst = max(r.worst, r.golden.CheckLogits(r.t, what, i, s.logits[0]))
	logprobs := make([]float64, len(s.drawn))
	for j := range s.drawn {
		logprobs[j] = float64(s.drawn[j].Raw)
	}
	r.tokens += r.golden.CheckTokens(r.t, what, i, s.out(), logprobs)
}
