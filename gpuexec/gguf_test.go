package gpuexec

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/internal/familytest"
)

// TestGGUFIsNearTheReference computes the prompts of files whose matrices are in Q8_0, of experts too, and
// of one in K types with a head in Q4_0.
func TestGGUFIsNearTheReference(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "checkpoint", "testdata", "gguf", "*.gguf"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	dev := emulated(t)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".gguf")
		if testing.Short() && name != "qwen3moe" && name != "gemma3" && name != "k" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(strings.TrimSuffix(file, "gguf") + "json")
			if err != nil {
				t.Fatal(err)
			}
			var g familytest.Golden
			if err := json.Unmarshal(text, &g); err != nil {
				t.Fatal(err)
			}
			m, set := loadModel(t, file)
			j := newJudge(t, Config{Device: dev, Model: m, Weights: set, MaxMemory: 64 << 20, MaxContext: 128, MaxTokens: 64, MaxSlots: 2, PageSize: 8})
			if judged := j.far(&g, m.MoE != nil); !(judged < familyBound) {
				t.Errorf("logits differ by %g", judged)
			}
		})
	}
}
