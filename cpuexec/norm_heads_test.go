package cpuexec

import (
	"math"
	"testing"

	"github.com/cbactor/cbactor/model"
	"github.com/cbactor/cbactor/weights"
)

// Queries that are wider than a tile and fill no whole panels are normalised together.
func TestNormOfWideQueries(t *testing.T) {
	c := odd
	c.Family, c.Norms, c.QKNorm, c.AttnBias, c.MLPBias = "olmo2", model.NormAfter, model.QKNormWhole, false, false
	c.Layers, c.Heads, c.KVHeads, c.HeadDim = 1, 3, 1, (tileLen/3+2)&^1
	m := newSynthetic(c)
	set, err := weights.Load(&m.Config, m, 1, "test")
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{Model: &m.Config, Weights: set, Threads: 2, MaxTokens: 2, MaxSlots: 1, MaxContext: 8, MemoryLimit: 1 << 30}
	plan, err := Plan(cfg)
	if err != nil {
		t.Fatal(err)
	}
	e := start(t, cfg)
	if e.Memory() != plan {
		t.Errorf("planned is %+v, taken %+v", plan, e.Memory())
	}
	const name = "model.layers.0.self_attn.q_norm"
	row, x := make([]float32, c.Heads*c.HeadDim), make([]float64, c.Heads*c.HeadDim)
	if len(row) <= tileLen || len(row) == padded(len(row)) {
		t.Fatalf("%d queries", len(row))
	}
	for i := range x {
		x[i] = math.Sin(float64(i))
		row[i] = float32(x[i])
	}
	w := make([]float32, padded(len(row)))
	copy(w, m.values[name+".weight"])
	for id := range e.step.workers {
		got := append([]float32(nil), row...)
		e.step.normHead(id, got, w)
		for i, want := range m.norm(x, name) {
			if math.Abs(float64(got[i])-want) > 1e-5 {
				t.Fatalf("thread %d: element %d is %g, want %g", id, i, got[i], want)
			}
		}
	}
}
