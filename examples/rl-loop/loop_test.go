package main

import (
	"context"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/engine"
)

// The reward rises clearly: the mean of eight steps comes above that of the first eight by
// at least 0.15, where stories are at about 0.1 untrained. How soon it does, mostly in 30
// steps, depends on which updates stories meet. Under the race detector there are a few
// steps, without a rise.
func TestRewardRises(t *testing.T) {
	const few, rise = 8, 0.15
	o := usual()
	o.steps = 200
	if raced {
		o.steps, o.stories, o.tokens = 4, 3, 10
	}
	first, last := 0.0, 0.0
	points := trained(t, o, func(points []point) bool {
		if len(points) < 2*few {
			return false
		}
		first, last = meanReward(points[:few]), meanReward(points[len(points)-few:])
		return last >= first+rise
	})
	if raced {
		return
	}
	mixed := 0
	for _, p := range points {
		mixed += p.mixed
	}
	if mixed == 0 {
		t.Error("no story goes over an update: generation waits")
	}
	t.Logf("in %d steps the reward goes from %.3f to %.3f; %d of %d stories go over updates", len(points), first, last, mixed, len(points)*o.groups*o.stories)
	if last < first+rise {
		t.Errorf("the reward goes from %.3f to %.3f only", first, last)
	}
}

// The cache may be computed again after each update.
func TestLoopWithRecompute(t *testing.T) {
	o := usual()
	o.steps, o.stories, o.tokens, o.kv = 3, 2, 10, engine.KVRecompute
	trained(t, o, nil)
}

// trained runs a loop, to its end or until it is enough, and checks what holds of every step: all tokens have the state
// that the weights make which the engine says have sampled them. With the version
// before, the deviation is above 0.2.
func trained(t *testing.T, o options, enough func([]point) bool) (points []point) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	err := loop(ctx, o, func(p point) {
		if points = append(points, p); enough != nil && enough(points) {
			stop()
		}
	})
	if err != nil && (ctx.Err() == nil || !errors.Is(err, context.Canceled)) {
		t.Fatal(err)
	}
	if err == nil && len(points) != o.steps {
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
