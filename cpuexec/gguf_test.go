package cpuexec

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/internal/familytest"
)

// TestGGUFIsTheReference compares what the reference computes with weights as GGUF files
// store them (checkpoint/testdata/gguf/make.py) with what is computed of the files.
func TestGGUFIsTheReference(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "checkpoint", "testdata", "gguf", "*.gguf"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".gguf"), func(t *testing.T) {
			var g familytest.Golden
			readJSON(t, strings.TrimSuffix(file, "gguf")+"json", &g)
			m, set := loadModel(t, file)
			d := newDriver(t, Config{Model: m, Weights: set, Threads: 2, MaxContext: 128, MaxTokens: 64}, 64, true)
			worst, tokens := 0.0, 0
			for i, prompt := range g.Prompts {
				s := &sequence{ids: slices.Clone(prompt), limit: len(g.Greedy[i])}
				d.run(s)
				worst = max(worst, g.CheckLogits(t, "file", i, s.logits[0]))
				tokens += g.CheckTokens(t, "file", i, s.out(), nil)
			}
			t.Logf("golden: gguf %s: logits differ by %.2g at most, %d greedy tokens equal", filepath.Base(file), worst, tokens)
		})
	}
}
