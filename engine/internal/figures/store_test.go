package figures

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestStore keeps figures over processes, beside those of others.
func TestStore(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "not", "yet")
	first, other := Open(dir, "A CPU @ 2.0GHz", 1), Open(dir, "A CPU @ 2.0GHz", 1)
	if err := first.Add(map[string]int{"one": 1, "two": 2}); err != nil {
		t.Fatal(err)
	}
	if err := other.Add(map[string]int{"two": 22}); err != nil {
		t.Fatal(err)
	}
	again := Open(dir, "A CPU @ 2.0GHz", 1)
	for key, want := range map[string]int{"one": 1, "two": 22} {
		if v, ok := again.Known(key); !ok || v != want {
			t.Errorf("%s is %d, %t, want %d", key, v, ok, want)
		}
	}
	if n := again.Len(); n != 2 {
		t.Errorf("%d figures are known, want 2", n)
	}
	for what, s := range map[string]*Store{"another CPU": Open(dir, "A CPU @ 2.1GHz", 1), "another version": Open(dir, "A CPU @ 2.0GHz", 2)} {
		if s.Len() != 0 || s.Path() == again.Path() {
			t.Errorf("%s has %d figures, in %s", what, s.Len(), s.Path())
		}
	}
	left, err := filepath.Glob(filepath.Join(dir, "*.tmp"))
	if err != nil || len(left) > 0 {
		t.Errorf("left over: %q, %v", left, err)
	}
}

// TestStoreReplaces what is no file of its own.
func TestStoreReplaces(t *testing.T) {
	for name, text := range map[string]string{
		"empty": "", "cut": `{"version":1,"device":"c","fig`, "of another CPU": `{"version":1,"device":"d","figures":{"one":2}}`,
		"of another version": `{"version":2,"device":"c","figures":{"one":2}}`, "without figures": `{"version":1,"device":"c"}`,
		"of other numbers": `{"version":1,"device":"c","figures":{"one":2.5}}`,
		"too large":        `{"version":1,"device":"c","figures":{"one":2}}` + strings.Repeat(" ", most),
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := Open(dir, "c", 1).Path()
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			s := Open(dir, "c", 1)
			if s.Len() != 0 {
				t.Fatalf("%d figures are known", s.Len())
			}
			if err := s.Add(map[string]int{"two": 2}); err != nil {
				t.Fatal(err)
			}
			if again := Open(dir, "c", 1); again.Len() != 1 {
				t.Errorf("%d figures are known afterwards, want 1", again.Len())
			}
		})
	}
}

// TestStoreCannotWrite where there is a file instead of a folder: what was learned stays
// known here.
func TestStoreCannotWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := Open(dir, "c", 1)
	if err := s.Add(map[string]int{"one": 1}); err == nil || !strings.Contains(err.Error(), "not kept") {
		t.Errorf("error %v", err)
	}
	if v, ok := s.Known("one"); !ok || v != 1 {
		t.Errorf("one is %d, %t", v, ok)
	}
}

func TestModelIn(t *testing.T) {
	for text, want := range map[string]string{
		"processor\t: 0\nmodel name\t: Some CPU  @ 2.00GHz\ncpu MHz\t: 2000.1\n\nprocessor\t: 1\nmodel name\t: Other\n": "Some CPU @ 2.00GHz",
		"processor\t: 0\nCPU implementer\t: 0x41\nCPU variant\t: 0x3\nCPU part\t: 0xd0c\n":                              "0x41 0x3 0xd0c",
		"": "",
	} {
		if got := modelIn(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// TestFileName has nothing that a file system does not like.
func TestFileName(t *testing.T) {
	name := fileName("linux amd64 Intel(R) Xeon(R) \u00e9/../ CPU @ 2.00GHz"+strings.Repeat(" long", 100), 3)
	if len(name) > 100 || slices.ContainsFunc([]rune(name), func(r rune) bool { return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789-.", r) }) {
		t.Errorf("it is %q", name)
	}
	if fileName("a b", 1) == fileName("a-b", 1) {
		t.Error("two CPUs have the same")
	}
}
