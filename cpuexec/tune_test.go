package cpuexec

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cbactor/cbactor/internal/familytest"
)

// efforts are those of the levels 1 to 3.
var efforts = []Effort{{Scope: Largest}, {Scope: Every}, {Scope: Every, Classes: true}}

// tuned makes an executor that tunes, and answers what it chose.
func tuned(t *testing.T, cfg Config, f Effort, known map[string]int) (chosen []Choice, e *Executor) {
	t.Helper()
	cfg.Tune = Tune{
		Decode: f, Varlen: f,
		Known:  func(key string) (int, bool) { v, ok := known[key]; return v, ok },
		Chosen: func(c []Choice) { chosen = append(chosen, c...) },
	}
	e = start(t, cfg)
	return chosen, e
}

// TestTuneOnce measures what is not known, and nothing a second time: with a greater effort
// more, with none nothing.
func TestTuneOnce(t *testing.T) {
	c := computeCases[5]
	m, set := c.load(t)
	cfg := c.with(m, set)
	cfg.Threads = 2
	last := 0
	for i, f := range efforts {
		known := map[string]int{}
		first, e := tuned(t, cfg, f, nil)
		for _, c := range first {
			if _, twice := known[c.Key]; twice || !c.Measured || !strings.HasPrefix(c.Key, e.kernels.Name+", 2 threads, ") {
				t.Errorf("level %d: told %v", i+1, c)
			}
			known[c.Key] = c.Value
		}
		if len(first) <= last {
			t.Errorf("level %d chose %d figures, the one below %d", i+1, len(first), last)
		}
		last = len(first)
		again, _ := tuned(t, cfg, f, known)
		for j, c := range again {
			if c.Measured || c.Key != first[j].Key || c.Value != first[j].Value {
				t.Errorf("level %d, for the second time: told %v, first %v", i+1, c, first[j])
			}
		}
		if len(again) != len(first) {
			t.Errorf("level %d chose %d figures for the second time, first %d", i+1, len(again), len(first))
		}
	}
	if none, _ := tuned(t, cfg, Effort{}, nil); len(none) > 0 {
		t.Errorf("without effort it chose %v", none)
	}
}

// TestTuneLeavesNoTrace has a tuner with a clock of its own take one candidate after the
// other: the executor then computes what it does without. Of a model with experts their
// matrices are measured like the others.
func TestTuneLeavesNoTrace(t *testing.T) {
	c := computeCases[8]
	m, set := c.load(t)
	leavesNoTrace(t, c.with(m, set))
	for _, name := range []string{"qwen3-moe-odd", "gpt-oss-odd"} {
		c, set := loadModel(t, familytest.Named(t, name).Folder(t))
		leavesNoTrace(t, Config{Model: c, Weights: set, MaxContext: 128, MaxSlots: 4, Compute: ComputeInt8})
	}
}

func leavesNoTrace(t *testing.T, cfg Config) {
	cfg.Threads = 2
	s := randomSequences(cfg.Model, 1, 60, 5)[0]
	newDriver(t, cfg, 64, true).run(s)
	for i, f := range efforts {
		d := newDriver(t, cfg, 64, true)
		trials := &trials{step: d.e.step, table: d.e.tiles, tune: &Tune{Decode: f, Varlen: f}}
		now := time.Millisecond
		to := &tuner{clock: func(run func() error) (time.Duration, error) {
			if now = now * 9 / 10; now < 100 { // what runs later is faster, and at times slower
				now = time.Millisecond
			}
			return now, run()
		}}
		w := d.e.places[0].Ready
		if err := trials.with(w, func() error { return trials.all(to) }); err != nil {
			t.Fatal(err)
		}
		moved := slices.ContainsFunc(to.choices, func(c Choice) bool { return c.Value != c.Default })
		if !moved {
			t.Errorf("%s, level %d chose nothing but defaults", cfg.Model.Family, i+1)
		}
		if f.Scope == Every {
			allMeasured(t, w, to.choices)
		}
		other := s.again()
		d.run(other)
		sameLogits(t, fmt.Sprintf("%s, level %d, with %v", cfg.Model.Family, i+1, to.choices), other.logits, s.logits)
	}
}

// allMeasured looks for each matrix's shape among the choices; the router is none of those
// that are cut.
func allMeasured(t *testing.T, w *packed, choices []Choice) {
	t.Helper()
	seen := func(what string, m *matrix) {
		if m.k > 0 && !slices.ContainsFunc(choices, func(c Choice) bool { return strings.HasPrefix(c.Key, m.shape().String()+",") }) {
			t.Errorf("%s, %s, is not measured: %v", what, m.shape(), choices)
		}
	}
	seen("head", &w.head)
	for l := range w.layers {
		for j := range w.layers[l].matrices {
			for i := range w.layers[l].matrices[j] {
				seen("a layer's", &w.layers[l].matrices[j][i])
			}
		}
		for e := range w.layers[l].experts {
			seen("an expert's gate and up", &w.layers[l].experts[e].gateUp)
			seen("an expert's down", &w.layers[l].experts[e].down)
		}
	}
}

// TestTrialsComputeExperts: a trial of an expert's matrix writes what its rows give.
func TestTrialsComputeExperts(t *testing.T) {
	c, set := loadModel(t, familytest.Named(t, "gpt-oss-odd").Folder(t))
	d := newDriver(t, Config{Model: c, Weights: set, Threads: 2, MaxContext: 128, MaxSlots: 4}, 64, false)
	s, trials := d.e.step, &trials{step: d.e.step, table: d.e.tiles}
	err := trials.with(d.e.places[0].Ready, func() error {
		for _, p := range trials.products() {
			if p.experts == 0 {
				continue
			}
			const rows = 5
			out, width, n := s.mixture.out, s.hiddenWidth, s.hidden
			if p.joint == jointGateUp {
				out, width, n = s.mixture.act.x, s.expertWidth, s.expert
			}
			for i := range out {
				out[i] = float32(math.NaN())
			}
			if err := trials.runs(&p, rows)(); err != nil {
				return err
			}
			for r := range rows + 1 {
				for _, x := range out[r*width:][:n] {
					if (x == x) != (r < rows) {
						t.Fatalf("%s: row %d of %d has %v", p, r, rows, x)
					}
				}
			}
			clear(out)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
