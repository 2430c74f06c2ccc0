package server

import (
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/texts"
)

// observed are the values that a histogram was told of.
type observed []float64

// Observe implements prometheus.Observer.
func (o *observed) Observe(v float64) { *o = append(*o, v) }

// Each gap between two tokens is observed, and of what never happened no time is.
func TestObserve(t *testing.T) {
	begun := time.Now()
	after := func(seconds int) time.Time { return begun.Add(time.Duration(seconds) * time.Second) }
	for name, c := range map[string]struct {
		timing engine.Timing
		gaps   []float64
		times  []float64 // of histograms that have times
	}{
		"generated": {
			engine.Timing{Created: begun, Started: after(1), First: after(3), Ended: after(10), Tokens: []time.Time{after(3), after(6), after(10)}},
			[]float64{3, 4},
			[]float64{3, 10, 1, 9, 2, 7, 3.5}, // first token, end to end, queue, inference, prefill, decode, per token
		},
		"one token":   {engine.Timing{Created: begun, Started: after(1), First: after(3), Ended: after(3), Tokens: []time.Time{after(3)}}, nil, []float64{3, 3, 1, 2, 2, 0}},
		"never begun": {engine.Timing{Created: begun, Ended: after(4)}, nil, []float64{4}},
	} {
		var gaps, times observed
		m := sequenceMeters{gaps: &gaps}
		for _, h := range histograms {
			var to prometheus.Observer = &observed{}
			if h.buckets != nil && slices.Contains([]*float64{&firstTokenBuckets[0], &requestBuckets[0], &tokenBuckets[0]}, &h.buckets[0]) {
				to = &times
			}
			m.list = append(m.list, meter{to, h.of})
		}
		out := texts.Output{Output: engine.Output{Timing: c.timing}}
		out.Usage.CompletionTokens = len(c.timing.Tokens)
		m.observe(&texts.Request{}, &out)
		if !slices.Equal(gaps, c.gaps) || !slices.Equal(times, c.times) {
			t.Errorf("%s: gaps %v, want %v; times %v, want %v", name, gaps, c.gaps, times, c.times)
		}
	}
}
