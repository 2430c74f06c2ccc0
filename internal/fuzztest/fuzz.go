package fuzztest

import (
	"flag"
	"path/filepath"
	"testing"
)

// Fuzz fuzzes a target whose input is a file, or a text, after the seeds of f and the kept
// corpus. An input may take twice its size and base bytes of memory, and, while it fuzzes, two
// seconds. The target may be run again with the same input.
func Fuzz[T []byte | string](f *testing.F, base uint64, target func(t *testing.T, input T)) {
	f.Helper()
	kept := filepath.Join("testdata", "fuzz", f.Name()+".gz")
	inputs, err := readCorpus(kept)
	if err != nil {
		f.Fatal(err)
	}
	k, err := newKeeper(kept, inputs)
	if err != nil {
		f.Fatal(err)
	}
	if k != nil {
		inputs = k.inputs
		f.Cleanup(func() { k.write(f) })
	}
	for _, input := range inputs {
		f.Add(T(input))
	}
	f.Fuzz(func(t *testing.T, input T) {
		l := limitsOf(2*uint64(len(input))+base, fuzzing())
		if err := l.judge(func() { target(t, input) }); err != nil {
			t.Errorf("%d bytes %v", len(input), err)
		}
		if k != nil {
			k.ran(string(input))
		}
	})
}

// fuzzing tells that inputs are looked for, and not only those run that are kept.
func fuzzing() bool {
	f := flag.Lookup("test.fuzz")
	return f != nil && f.Value.String() != ""
}
