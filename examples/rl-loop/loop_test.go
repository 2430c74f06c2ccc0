package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/engine"
)

// The reward rises clearly, at fixed seeds: the mean of the last fifth of the steps is
// above that of the first by at least 0.08, where stories are at about 0.1 untrained.
// Under the race detector there are a few steps, without a rise.
func TestRewardRises(t *testing.T) {
	o := usual()
	o.steps = 40
	if raced {
		o.steps, o.stories, o.tokens = 4, 3, 10
	}
	points := trained(t, o)
	mixed := 0
	for _, p := range points {
		mixed += p.mixed
	}
	if mixed == 0 && !raced {
		t.Error("no story goes over an update: generation waits")
	}
	fifth := max(1, len(points)/5)
	first, last := meanReward(points[:fifth]), meanReward(points[len(points)-fifth:])
	t.Logf("reward rises from %.3f to %.3f; %d of %d stories go over updates", first, last, mixed, o.steps*o.groups*o.stories)
	if last < first+0.08 && !raced {
		t.Errorf("the reward goes from %.3f to %.3f only", first, last)
	}
}

// The cache may be computed again after each update.
func TestLoopWithRecompute(t *testing.T) {
	o := usual()
	o.steps, o.stories, o.tokens, o.kv = 3, 2, 10, engine.KVRecompute
	trained(t, o)
}

// trained runs a loop and checks what holds of every step: all tokens have the state
// that the weights make which the engine says have sampled them. With the version
// before, the deviation is above 0.2.
func trained(t *testing.T, o options) (points []point) {
	t.Helper()
	err := loop(t.Context(), o, func(p point) { points = append(points, p) })
	if err != nil {
		t.Fatal(err)
	}
	if len(points) != o.steps {
		t.Fatalf("%d steps, want %d", len(points), o.steps)
	}
	old := 0.0
	for i, p := range points {
		old = max(old, p.staleness)
		if p.deviation > 5e-3 || p.tokens <= 0 {
			t.Errorf("step %d: %+v", i, p)
		}
	}
	if most := float64(o.samplers)/float64(o.groups) + 2; old == 0 || old > most {
		t.Errorf("weights were up to %.2f updates old, want more than 0 and at most %.0f", old, most)
	}
	return points
}

func meanReward(points []point) (mean float64) {
	for _, p := range points {
		mean += p.reward / float64(len(points))
	}
	return mean
}

// The plot is XML with a curve in every panel, also of few points.
func TestPlot(t *testing.T) {
	for n := range 3 {
		path := filepath.Join(t.TempDir(), "plot.svg")
		if err := writePlot(path, make([]point, n)); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		curves := 0
		d := xml.NewDecoder(strings.NewReader(string(data)))
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if e, ok := token.(xml.StartElement); ok && e.Name.Local == "polyline" {
				curves++
			}
		}
		if curves != len(panels) || strings.Contains(string(data), "NaN") {
			t.Errorf("%d points: %d curves, want %d: %s", n, curves, len(panels), data)
		}
	}
}
