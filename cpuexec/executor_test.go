package cpuexec

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/cbactor/cbactor/cpuexec/pool"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/internal/familytest"
	"github.com/cbactor/cbactor/sampling"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestStepsAllocateNothing decodes on all threads, greedy and not, through Start
// and Finish, with a Profile, over every type of cache and over more than one segment.
func TestStepsAllocateNothing(t *testing.T) {
	m, set := longModel(t, 2048)
	for _, kv := range kvTypes {
		d := newDriver(t, Config{Model: m, Weights: set, Threads: 2, MaxSlots: 4, MaxAdapters: 1, KVType: kv, Profile: new(Profile)}, 256, false)
		if err := d.e.LoadAdapter("a", familytest.Adapter(m, 1, 8, familytest.Everywhere)); err != nil {
			t.Fatal(err)
		}
		d.e.step.alone = 0
		seqs := append(randomSequences(m, 3, 20, 300), longSequence(m, 1000, 300))
		for i, s := range seqs {
			s.adapter = []string{"a", ""}[i%2]
			s.sampling = sampling.Params{Temperature: float32(i) / 4, TopK: 20, TopP: 0.9}
		}
		if got := allocations(t, 80, d.decode(seqs)); got > 0 {
			t.Errorf("%s: %d allocations in 80 steps", kv, got)
		}
	}
}

// decode admits sequences and answers a function that makes so many steps of them.
func (d *driver) decode(seqs []*sequence) func(n int) {
	var b executor.Batch
	var r executor.Result
	for i, s := range seqs {
		d.admit(&b, s, executor.Slot(i))
		s.ids = slices.Grow(s.ids, s.limit)
	}
	return func(n int) {
		for range n {
			d.step++
			b.Step, b.Epoch = d.step, 1
			for _, s := range seqs {
				d.row(&b, s, d.chunk)
			}
			d.do(&b, &r)
			b.Reset()
		}
	}
}

// TestPanic lets the hook panic on a thread while the others compute: the step
// fails, later ones too, nothing hangs.
func TestPanic(t *testing.T) {
	m, set := loadModel(t, family("llama"))
	e := start(t, Config{Model: m, Weights: set, Threads: 2, MaxContext: 64, KeepLogits: func(int, int, []float32) { panic("on purpose") }})
	e.step.alone = 0
	var r executor.Result
	for step := uint64(1); step <= 2; step++ {
		b := executor.Batch{Step: step, Epoch: 1}
		if step == 1 {
			b.Admit = []executor.Admit{{IDs: []int32{1, 2}, PromptLen: 2, Parent: executor.NoSlot}}
			b.Tables = []executor.Table{{Blocks: []int32{0}}}
			b.Rows = []executor.Row{{Count: 2, Sample: true, Mask: -1}}
		}
		if err := e.Start(&b); err != nil {
			t.Fatal(err)
		}
		if err := e.Finish(&r); err != nil {
			t.Fatal(err)
		}
		if !errors.Is(r.Err, pool.ErrPanic) || !strings.Contains(r.Err.Error(), "step 1") || len(r.Rows) != 0 {
			t.Errorf("step %d: %v, %d rows", step, r.Err, len(r.Rows))
		}
	}
}

func TestEpochIsChecked(t *testing.T) {
	m, set := loadModel(t, family("llama"))
	e := start(t, Config{Model: m, Weights: set, Threads: 1, MaxContext: 64})
	err := e.Start(&executor.Batch{Step: 1, Epoch: 2})
	if !errors.Is(err, executor.ErrContract) || !strings.Contains(err.Error(), "epoch") {
		t.Errorf("epoch 2 of 1: %v", err)
	}
}

// TestDraws draws again what the executor drew, from the logits that it showed: a
// token is a function of them and of the key of its place.
func TestDraws(t *testing.T) {
	m, set := loadModel(t, family("llama"))
	seqs := randomSequences(m, 2, 9, 20)
	newDriver(t, Config{Model: m, Weights: set, Threads: 1, MaxContext: 64}, 64, true).run(seqs...)
	sampler := sampling.NewSampler(m.Vocab)
	for i, s := range seqs {
		for j, got := range s.out() {
			key := sampling.Key{Seed: s.seed, Position: int32(s.prompt + j)}
			var want sampling.Drawn
			err := sampler.Sample(s.logits[j], &s.sampling, sampling.History{}, key, &want)
			if err != nil || got != want.ID {
				t.Errorf("sequence %d: token %d is %d, drawn again it is %d (%v)", i, j, got, want.ID, err)
			}
		}
	}
}

func TestEnvironmentChoosesKernels(t *testing.T) {
	t.Setenv("CBACTOR_CPU", "generic")
	m, set := loadModel(t, family("llama"))
	if name := start(t, Config{Model: m, Weights: set, Threads: 1, MaxContext: 64}).Info().Name; name != "cpu generic f32 kv f32" {
		t.Errorf("the executor is %q", name)
	}
}

// TestContextEnds runs a sequence up to its last position.
func TestContextEnds(t *testing.T) {
	m, set := loadModel(t, family("llama"))
	d := newDriver(t, Config{Model: m, Weights: set, Threads: 1, MaxContext: 40, MaxSlots: 1}, 64, true)
	s := &sequence{ids: []int32{5, 6, 7}, limit: 37}
	d.run(s)
	if len(s.out()) != 37 || s.err != nil {
		t.Errorf("%d tokens, %v", len(s.out()), s.err)
	}
	if last := s.logits[36]; slices.ContainsFunc(last, func(x float32) bool { return math.IsNaN(float64(x)) }) {
		t.Error("logits at the end of the context are NaN")
	}
}
