package fuzztest

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestCorpusComesBack(t *testing.T) {
	want := []string{"", "a\nb", "\x00\xff\"\\", strings.Repeat("\xfe", maxInput), "é中\u2028"}
	var packed bytes.Buffer
	if err := writeCorpus(&packed, want); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.gz")
	if err := os.WriteFile(path, packed.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	if got, err := readCorpus(path); err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := readCorpus(path + "x"); err != nil || got != nil {
		t.Errorf("no file: %q, %v", got, err)
	}
	if err := os.WriteFile(path, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := readCorpus(path); err == nil {
		t.Error("what is not compressed was read")
	}
}

func TestParseFound(t *testing.T) {
	for data, want := range map[string]string{
		"go test fuzz v1\n[]byte(\"a)\\x00\")\n": "a)\x00",
		"go test fuzz v1\nstring(\"(b)\")\n":     "(b)",
		"go test fuzz v1\n[]byte(\"\")\n":        "",
	} {
		if got, ok := parseFound(data); !ok || got != want {
			t.Errorf("%q: %q, %t", data, got, ok)
		}
	}
	for _, data := range []string{"", "go test fuzz v2\n[]byte(\"a\")\n", "go test fuzz v1\n[]byte(\"a\")\nstring(\"b\")\n", "go test fuzz v1\nint(3)\n"} {
		if got, ok := parseFound(data); ok {
			t.Errorf("%q was read as %q", data, got)
		}
	}
}

// What reaches nothing new is not kept, nor are seeds.
func TestKeeperChooses(t *testing.T) {
	reached := map[string]float64{"seed": 0.1, "a": 0.1, "bb": 0.2, "ccc": 0.2, "dddd": 0.3}
	now := 0.0
	k := &keeper{inputs: []string{"a", "bb", "ccc", "dddd"}, coverage: func() float64 { return now }}
	for _, input := range []string{"seed", "a", "bb", "ccc", "dddd"} {
		now = reached[input]
		k.ran(input)
	}
	if want := []string{"bb", "dddd"}; !slices.Equal(k.chosen, want) {
		t.Errorf("%q, want %q", k.chosen, want)
	}
}
