package gpuexec

import (
	"slices"
	"testing"

	"github.com/cbactor/cbactor/executor"
)

// TestLongContext computes a sequence of several segments as one prompt, and with its end in a step of few
// tokens, where blocks of threads share its context: the logits have the same bits.
func TestLongContext(t *testing.T) {
	m, set := loadModel(t, "tiny")
	ids := make([]int32, 600)
	for i := range ids {
		ids[i] = int32((17*i + i*i*31) % m.Vocab)
	}
	blocks := make([]int32, pages(len(ids), 16))
	for i := range blocks {
		blocks[i] = int32(len(blocks) - 1 - i)
	}
	cuts := [][]int{{600}, {256, 599, 600}, {593, 600}}
	if testing.Short() {
		cuts = cuts[:2]
	}
	var got [][]float32
	for _, ends := range cuts {
		var logits []float32
		e := start(t, Config{
			Device: emulated(t), Model: m, Weights: set, MaxMemory: 64 << 20, MaxContext: 640, MaxTokens: 640, MaxSlots: 1,
			KeepLogits: func(_, _ int, row []float32) { logits = slices.Clone(row) },
		})
		at := 0
		for step, end := range ends {
			b := executor.Batch{Step: uint64(step + 1), Epoch: 1}
			if step == 0 {
				b.Admit = []executor.Admit{{IDs: ids, PromptLen: int32(len(ids)), Parent: executor.NoSlot}}
				b.Tables = []executor.Table{{Blocks: blocks}}
			}
			b.Rows = []executor.Row{{Start: int32(at), Count: int32(end - at), Sample: end == len(ids), Mask: -1}}
			var r executor.Result
			if err := e.Start(&b); err != nil {
				t.Fatal(err)
			}
			if err := e.Finish(&r); err != nil || r.Err != nil {
				t.Fatal(err, r.Err)
			}
			at = end
		}
		got = append(got, logits)
	}
	for i, logits := range got[1:] {
		if len(logits) != m.Vocab || !slices.Equal(logits, got[0]) {
			t.Errorf("cut in way %d, the logits are others", i+1)
		}
	}
}
