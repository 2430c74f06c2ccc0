package cpuexec

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/executor/suite"
	"github.com/cbactor/cbactor/internal/familytest"
	"github.com/cbactor/cbactor/model"
	"github.com/cbactor/cbactor/weights"
)

// TestComputeConforms runs the suite of all executors with packed activations.
func TestComputeConforms(t *testing.T) {
	m, set := loadModel(t, family("llama"))
	suite.Run(t, makeWith(m, set, Config{Threads: 1, Compute: ComputeInt8}))
}

// TestComputePlans sums what New takes, as TestPlanIsWhatIsTaken does, when tensors are
// stored in many types, and Plan is told of them.
func TestComputePlans(t *testing.T) {
	for _, c := range computeCases {
		m, set := c.load(t)
		cfg := c.with(m, set)
		cfg.MemoryLimit, cfg.MaxAdapters, cfg.WeightSets, cfg.Threads = 1<<30, 1, 2, 3
		e := start(t, cfg)
		cfg.Weights, cfg.Stored = nil, (&storedAs{m, c.as}).Tensors()
		plan, err := Plan(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if plan != e.Memory() {
			t.Errorf("%s: %+v are taken, planned are %+v", c.name, e.Memory(), plan)
		}
		for _, a := range append(e.areas, e.places[0].Memory) {
			if len(a.mem) > 0 && len(a.mem) != a.used {
				t.Errorf("%s: %d of %d bytes for %s are used", c.name, a.used, len(a.mem), a.what)
			}
		}
	}
}

// TestFormatsStay loads a set that is stored otherwise than the first: it gets the formats of
// the first, as in an executor that is told of them.
func TestFormatsStay(t *testing.T) {
	first, second := computeCase{m: even, as: mixed, cfg: int8q8}, computeCase{m: even, as: always(model.BF16), cfg: int8q8}
	m, set := first.load(t)
	cfg := first.with(m, set)
	cfg.WeightSets = 2
	d := newDriver(t, cfg, 16, true)
	_, other := second.load(t)
	other.Epoch = 2
	if err := d.e.Load(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	_, again := second.load(t)
	cfg.Weights, cfg.Stored = again, (&storedAs{m, mixed}).Tensors()
	fresh := newDriver(t, cfg, 16, true)
	if !bytes.Equal(d.e.weightsOf(2).area.mem, fresh.e.weightsOf(1).area.mem) {
		t.Error("what is derived differs from a fresh executor's")
	}
	one, two := randomSequences(&m.Config, 1, 30, 4)[0], randomSequences(&m.Config, 1, 30, 4)[0]
	d.epoch = 2
	d.run(one)
	fresh.run(two)
	sameLogits(t, "a set loaded later", one.logits, two.logits)
}

// TestComputeSurvives updates weights between the tokens of a sequence and has the
// executor sleep and wake, for each format: what comes after is as in another order.
func TestComputeSurvives(t *testing.T) {
	for _, c := range computeCases {
		m, set := c.load(t)
		cfg := c.with(m, set)
		cfg.WeightSets = 2
		cfg.Threads = 2
		d := newDriver(t, cfg, 16, true)
		before := randomSequences(&m.Config, 1, 30, 4)[0]
		d.run(before)
		other := newSynthetic(m.Config)
		for _, v := range other.values {
			slices.Reverse(v)
		}
		next, err := weights.Load(&m.Config, &storedAs{other, c.as}, 2, "next")
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(d.e.Load(t.Context(), next), d.e.Sleep(true, true), d.e.Wake()); err != nil {
			t.Fatal(err)
		}
		after := before.again()
		d.run(after)
		sameLogits(t, c.name+": after sleep", after.logits, before.logits)
		d.epoch = 2
		changed := before.again()
		d.run(changed)
		if slices.EqualFunc(changed.logits, before.logits, slices.Equal) {
			t.Errorf("%s: other weights give the same logits", c.name)
		}
		cfg.Weights = next
		next.Epoch = 1
		fresh, want := newDriver(t, cfg, 16, true), before.again()
		fresh.run(want)
		sameLogits(t, c.name+": after an update", changed.logits, want.logits)
	}
}

// TestComputeWithAdapters runs sequences with an adapter alone and together: its part is
// in float32, whatever the matrices are.
func TestComputeWithAdapters(t *testing.T) {
	for _, c := range computeCases {
		m, set := c.load(t)
		a := familytest.Adapter(&m.Config, 1, 8, func(module string) bool { return !strings.HasSuffix(module, "1.mlp.up_proj") })
		want := m.widened(set).merged(a)
		cfg := c.with(m, set)
		cfg.MaxAdapters, cfg.MaxAdapterRank = 1, 8
		var runs []*sequence
		for _, chunk := range []int{1, 13, 64} {
			cfg.Threads = 1 + chunk%2
			d := newDriver(t, cfg, chunk, true)
			d.e.step.alone = 0
			if err := d.e.LoadAdapter("a", a); err != nil {
				t.Fatal(err)
			}
			pair := randomSequences(&m.Config, 2, 40, 3)
			pair[0].adapter = "a"
			d.run(pair...)
			runs = append(runs, pair[0])
			sameLogits(t, c.name, pair[0].logits, runs[0].logits)
		}
		if off := distance(runs[0].logits[0], want.logits(runs[0].ids[:runs[0].prompt])); !(off < c.off) {
			t.Errorf("%s: logits are off by %.4f of their size", c.name, off)
		}
	}
}
