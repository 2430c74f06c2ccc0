package sim

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/sched"
)

// A sample is in force until the next one, however many pixels that is, and of those
// that fall on one pixel the largest is drawn.
func TestTheChartHoldsValues(t *testing.T) {
	r := &Report{Blocks: 10, Seconds: plotWidth, samples: []Sample{
		{At: 100.5, Used: 4, Running: 3}, {At: 200.2, Used: 9, Running: 2}, {At: 200.4, Used: 1, Running: 5}, {At: plotWidth, Waiting: 7},
	}}
	got := r.pixels(func(s Sample) int { return s.Used })
	for x, v := range got {
		want := 4
		switch {
		case x < 100:
			want = 0
		case x == 200:
			want = 9
		case x > 200:
			want = 1
		}
		if v != want {
			t.Fatalf("column %d shows %d, want %d", x, v, want)
		}
	}
	var b bytes.Buffer
	if err := r.WriteSVG(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{Mark, "blocks in use, 100 % = 10", "running, 100 % = 5", "waiting, 100 % = 7", ">410 s<", "100 %</text>"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the chart does not have %q", want)
		}
	}
}

// Ids that no vocabulary has, and what outgrows the cache, are the load's fault; large
// ids are not.
func TestWhatALoadMayHave(t *testing.T) {
	c := config(4, 0)
	c.Sched.Policy = sched.FIFO
	for _, q := range []Request{{Prompt: []int32{-1}, MaxNew: 1}, {Prompt: []int32{wideVocab}, MaxNew: 1}, {Prompt: []int32{1}, MaxNew: 1 << 62},
		{Prompt: []int32{1}, MaxNew: 65}} {
		if _, err := Run(c, []Request{q}); !errors.Is(err, ErrLoad) {
			t.Errorf("%v: %v", q, err)
		}
	}
	if r := simulate(t, c, []Request{{Prompt: []int32{vocab, wideVocab - 1, 5}, MaxNew: 62}}); r.Generated != 62 {
		t.Errorf("%d tokens of large ids", r.Generated)
	}
}
