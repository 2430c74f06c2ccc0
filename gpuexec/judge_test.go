package gpuexec

import (
	"math"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/internal/familytest"
	"github.com/cbactor/cbactor/sampling"
)

// judge scores sequences with an executor: each is one prompt that a step of its own computes.
type judge struct {
	t      *testing.T
	e      executor.Executor
	step   uint64
	epoch  uint32    // to compute with; 0: the first
	logits []float32 // behind the last prompt

	adapter string // of the next prompts
}

// newJudge makes an executor that shows its logits.
func newJudge(t *testing.T, cfg Config) *judge {
	j := &judge{t: t}
	cfg.KeepLogits = func(_, _ int, logits []float32) { j.logits = slices.Clone(logits) }
	j.e = start(t, cfg)
	return j
}

// run computes ids, and answers what is told of each but the first: its log-probability and the most
// likely id in its place.
func (j *judge) run(ids []int32) []sampling.Drawn {
	j.t.Helper()
	j.step++
	b := executor.Batch{
		Step: j.step, Epoch: max(1, j.epoch),
		Admit: []executor.Admit{{
			IDs: ids, PromptLen: int32(len(ids)), Parent: executor.NoSlot, Adapter: j.adapter,
			Sampling: sampling.Params{Tell: sampling.Tell{Prompt: true, Logprobs: true, Top: 1}},
		}},
		Rows:   []executor.Row{{Count: int32(len(ids)), Sample: true, Mask: -1, PromptLogprobs: true}},
		Retire: []executor.Slot{0},
	}
	for g := range j.e.Info().Groups {
		blocks := make([]int32, pages(len(ids), j.e.Info().PageSize))
		for i := range blocks {
			blocks[i] = int32(i)
			if per := j.e.Info().Groups[g].PerSector; per > 0 { // sectors in turn
				blocks[i] = int32((i/per*len(j.e.Info().Groups)+g)*per + i%per)
			}
		}
		b.Tables = append(b.Tables, executor.Table{Group: int32(g), Blocks: blocks})
	}
	var r executor.Result
	if err := j.e.Start(&b); err != nil {
		j.t.Fatal(err)
	}
	if err := j.e.Finish(&r); err != nil {
		j.t.Fatal(err)
	}
	if r.Err != nil || r.Rows[0].Err != nil {
		j.t.Fatal(r.Err, r.Rows[0].Err)
	}
	return r.Rows[0].Prompt
}

// far is how far the logits behind the prompts of a golden are off. Where a token's experts score alike,
// rounding may take another one: of a model with experts the prompt in the middle is judged.
func (j *judge) far(g *familytest.Golden, experts bool) float64 {
	j.t.Helper()
	off := make([]float64, len(g.Prompts))
	for i, p := range g.Prompts {
		j.run(p)
		off[i] = furthest(j.logits, g.Logits[i])
	}
	j.t.Logf("golden: %s on the fake driver: logits differ by %.2g", j.t.Name(), off)
	slices.Sort(off)
	if experts {
		return off[len(off)/2]
	}
	return off[len(off)-1]
}

// furthest is the largest difference of two rows of logits.
func furthest(got []float32, want []float64) float64 {
	most := 0.0
	for i, w := range want {
		if d := math.Abs(float64(got[i]) - w); !(d <= most) {
			most = d // a NaN too
		}
	}
	return most
}
