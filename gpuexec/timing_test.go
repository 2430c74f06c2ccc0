package gpuexec

import (
	"testing"

	"github.com/cbactor/cbactor/sampling"
)

// TestTimesOfSteps is told of each step once, in order; a step takes time, and none begins before the
// one before it has ended.
func TestTimesOfSteps(t *testing.T) {
	m, set := loadModel(t, family("llama"))
	var told []Timing
	e := start(t, Config{
		Device: emulated(t), Model: m, Weights: set, MaxMemory: 32 << 20, MaxContext: 64, MaxTokens: 32, MaxSlots: 2,
		Timed: func(one Timing) { told = append(told, one) },
	})
	const steps = 7
	g := generation{prompt: []int32{5, 6, 7}, list: make([]sampling.Params, 2), n: steps}
	g.run(t, e)
	if len(told) != steps {
		t.Fatalf("%d steps are told of, want %d", len(told), steps)
	}
	for i, one := range told {
		if one.Step != uint64(i+1) || one.Busy <= 0 || one.Gap < 0 || i == 0 && one.Gap != 0 {
			t.Errorf("step %d: %+v", i+1, one)
		}
	}
}
