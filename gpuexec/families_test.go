package gpuexec

import (
	"slices"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/cpuexec"
	"github.com/cbactor/cbactor/internal/familytest"
)

// familyBound is what logits of a random model of a family may be off by in bf16, activations and cache
// too. They reach from about -3 to 3.
const familyBound = 0.08

// TestFamiliesAreNearTheReference computes the prompts of each family.
func TestFamiliesAreNearTheReference(t *testing.T) {
	dev := emulated(t)
	for _, m := range familytest.Models(t) {
		if testing.Short() && !strings.HasSuffix(m.Name, "-odd") {
			continue
		}
		t.Run(m.Name, func(t *testing.T) {
			c, set := loadModel(t, m.Folder(t))
			j := newJudge(t, Config{Device: dev, Model: c, Weights: set, MaxMemory: 64 << 20, MaxContext: 256, MaxTokens: 128, MaxSlots: 2, PageSize: 8})
			judged := j.far(m.Golden(t), c.MoE != nil)
			if !(judged < familyBound) {
				t.Errorf("logits differ by %g", judged)
			}
		})
	}
}

// TestFamiliesAreNearTheCPU computes the prompts of two families here and on the CPU, with weights and cache in
// bf16 there, too: only activations are rounded here that are not there.
func TestFamiliesAreNearTheCPU(t *testing.T) {
	dev := emulated(t)
	for _, name := range []string{"llama", "gemma3"} {
		m := familytest.Named(t, name)
		c, set := loadModel(t, m.Folder(t))
		j := newJudge(t, Config{Device: dev, Model: c, Weights: set, MaxMemory: 64 << 20, MaxContext: 256, MaxTokens: 128, MaxSlots: 2, PageSize: 8})
		cpu := &judge{t: t}
		e, err := cpuexec.New(cpuexec.Config{
			Model: c, Weights: set, MaxContext: 256, MaxTokens: 128, MaxSlots: 2, PageSize: 8,
			Compute: cpuexec.ComputeBF16, KVType: cpuexec.KVBF16,
			KeepLogits: func(_, _ int, logits []float32) { cpu.logits = slices.Clone(logits) },
		})
		if err != nil {
			t.Fatal(err)
		}
		cpu.e = e
		worst := 0.0
		for _, p := range m.Golden(t).Prompts {
			j.run(p)
			cpu.run(p)
			worst = max(worst, apart(j.logits, cpu.logits))
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		t.Logf("golden: %s on the fake driver: logits differ by %.2g from the CPU's in bf16", name, worst)
		if !(worst < familyBound) || worst == 0 {
			t.Errorf("%s: logits differ by %g", name, worst)
		}
	}
}

// apart is the largest difference of two rows of logits.
func apart(a, b []float32) float64 {
	wide := make([]float64, len(b))
	for i, v := range b {
		wide[i] = float64(v)
	}
	return furthest(a, wide)
}
