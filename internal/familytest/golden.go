package familytest

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Golden is what the reference computes, in float32 with eager attention. Each list has an
// entry for each prompt.
type Golden struct {
	Prompts  [][]int32
	Logits   [][]float64 // behind the prompt
	Greedy   [][]int32   // the next tokens
	Logprobs [][]float64 // of these
	MinGap   []float64   `json:"min_gap"` // the least lead of a token over the second best
}

// What a correct engine in float32 may be off by, and the lead from which tokens must be
// equal.
const (
	LogitBound   = 2e-4
	LogprobBound = 1e-4
	SureGap      = 1e-3
)

// Golden is the model's.
func (m Model) Golden(t testing.TB) *Golden {
	t.Helper()
	return ReadGolden(t, m.folder)
}

// ReadGolden reads that of a folder.
func ReadGolden(t testing.TB, folder string) *Golden {
	t.Helper()
	js, err := os.ReadFile(filepath.Join(folder, "golden.json"))
	if errors.Is(err, fs.ErrNotExist) {
		js, err = unzipped(filepath.Join(folder, "golden.json.gz"))
	}
	g := &Golden{}
	if err == nil {
		err = json.Unmarshal(js, g)
	}
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func unzipped(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

// CheckTokens compares what was generated behind prompt i, and the log-probabilities, where
// the reference is sure; a golden without these has none. It answers how many tokens it has
// compared. A golden that is sure of no token shows nothing, and fails.
func (g *Golden) CheckTokens(t testing.TB, what string, i int, tokens []int32, logprobs []float64) int {
	t.Helper()
	if g.sure() == 0 {
		t.Errorf("%s: the golden is sure of no token", what)
		return 0
	}
	if g.MinGap[i] <= SureGap {
		return 0
	}
	if !slices.Equal(tokens, g.Greedy[i]) {
		t.Errorf("%s: prompt %d: tokens %v, want %v", what, i, tokens, g.Greedy[i])
		return 0
	}
	if g.Logprobs == nil {
		return len(tokens)
	}
	for j, want := range g.Logprobs[i] {
		if d := math.Abs(logprobs[j] - want); !(d <= LogprobBound) {
			t.Errorf("%s: prompt %d: log-probability of token %d is %g, want %g", what, i, j, logprobs[j], want)
		}
	}
	return len(tokens)
}

// sure is how many tokens the reference is sure of.
func (g *Golden) sure() (n int) {
	for i, gap := range g.MinGap {
		if gap > SureGap {
			n += len(g.Greedy[i])
		}
	}
	return n
}

// CheckLogits compares the logits behind prompt i, and answers how far they are off.
func (g *Golden) CheckLogits(t testing.TB, what string, i int, logits []float32) float64 {
	t.Helper()
	most := 0.0
	for j, want := range g.Logits[i] {
		if d := math.Abs(float64(logits[j]) - want); !(d <= most) {
			most = d // a NaN too
		}
	}
	if !(most <= LogitBound) {
		t.Errorf("%s: prompt %d: logits differ by %g", what, i, most)
	}
	return most
}
