package cpuexec

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
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
// other: the executor then computes what it does without.
func TestTuneLeavesNoTrace(t *testing.T) {
	c := computeCases[8]
	m, set := c.load(t)
	cfg := c.with(m, set)
	cfg.Threads = 2
	s := randomSequences(&m.Config, 1, 60, 5)[0]
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
		if err := trials.with(d.e.places[0].packed, func() error { return trials.all(to) }); err != nil {
			t.Fatal(err)
		}
		moved := slices.ContainsFunc(to.choices, func(c Choice) bool { return c.Value != c.Default })
		if !moved {
			t.Errorf("level %d chose nothing but defaults", i+1)
		}
		other := s.again()
		d.run(other)
		sameLogits(t, fmt.Sprintf("level %d, with %v", i+1, to.choices), other.logits, s.logits)
	}
}
