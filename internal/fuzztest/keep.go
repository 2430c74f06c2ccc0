package fuzztest

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// foundIn names a folder of inputs that fuzzing has found. With it, and with -cover, the
// corpus of the one fuzzer that runs is written anew.
const foundIn = "CBACTOR_FUZZ_FOUND"

// keeper chooses which inputs are kept: in the order of their sizes those that reach a
// statement which no seed and none before has reached.
type keeper struct {
	path   string
	inputs []string // to choose from, the smallest first
	chosen []string

	coverage func() float64
	reached  float64
}

// newKeeper is nil when nobody asks to keep anything.
func newKeeper(path string, kept []string) (*keeper, error) {
	folder := os.Getenv(foundIn)
	if folder == "" {
		return nil, nil
	}
	if testing.CoverMode() == "" {
		return nil, fmt.Errorf("%s is set, and nothing is counted: run it with -cover", foundIn)
	}
	found, err := readFound(folder)
	if err != nil {
		return nil, err
	}
	k := &keeper{path: path, inputs: append(kept, found...), coverage: testing.Coverage}
	slices.SortFunc(k.inputs, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	})
	k.inputs = slices.Compact(k.inputs)
	return k, nil
}

// readFound reads a folder of package testing's files. One that is not there has none.
func readFound(folder string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil {
		return nil, err
	}
	var inputs []string
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if input, ok := parseFound(string(data)); ok && len(input) <= maxInput {
			inputs = append(inputs, input)
		}
	}
	return inputs, nil
}

// ran notes that an input was run. Seeds run before what is chosen from.
func (k *keeper) ran(input string) {
	coverage := k.coverage()
	if coverage <= k.reached {
		return
	}
	k.reached = coverage
	if slices.Contains(k.inputs, input) {
		k.chosen = append(k.chosen, input)
	}
}

// write writes the corpus, unless something has failed.
func (k *keeper) write(f *testing.F) {
	if f.Failed() {
		return
	}
	var packed bytes.Buffer
	err := errors.Join(writeCorpus(&packed, k.chosen), os.MkdirAll(filepath.Dir(k.path), 0o755))
	if err == nil {
		err = os.WriteFile(k.path, packed.Bytes(), 0o644)
	}
	if err != nil {
		f.Error(err)
		return
	}
	f.Logf("%d of %d inputs are kept, %d bytes", len(k.chosen), len(k.inputs), packed.Len())
}
