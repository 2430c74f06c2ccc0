package storytest

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// Story plays one file: scenario after scenario.
type Story interface {
	// Play lets happen what a block tells, and answers what came of it.
	Play(t *testing.T, d *datadriven.TestData) string
	// Open tells that a scenario has begun and not finished.
	Open() bool
}

// Run plays the files testdata/*.txt. "go test -rewrite" writes what came of them.
func Run(t *testing.T, newStory func() Story) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no stories: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			s := newStory()
			datadriven.RunTest(t, file, s.Play)
			if s.Open() {
				t.Error("the last scenario has no end")
			}
		})
	}
}
