package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// A file stays as it is until something is written, and then has that alone.
func TestAMadeFileReplacesWhenItIsWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	isOwn := func(head []byte) bool { return bytes.HasPrefix(head, []byte("own")) }
	for _, step := range []struct{ write, want string }{{"", ""}, {"own, and long", "own, and long"}, {"", "own, and long"}, {"own", "own"}} {
		f, err := makeFile("--x", path, "file of x", isOwn)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range []byte(step.write) {
			if _, err := f.Write([]byte{b}); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != step.want {
			t.Errorf("after %q: %q, %v", step.write, got, err)
		}
	}
}

// What is not its own, or in use otherwise, is refused as bad usage and kept.
func TestAMadeFileKeepsOthers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	other, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := other.Close(); err != nil {
			t.Error(err)
		}
	}()
	never, always := func([]byte) bool { return false }, func([]byte) bool { return true }
	for name, try := range map[string]func() (*madeFile, error){
		"another kind": func() (*madeFile, error) { return makeFile("--x", path, "file of x", never) },
		"in use":       func() (*madeFile, error) { return makeFile("--x", path, "file of x", always, nil, other) },
		"a folder":     func() (*madeFile, error) { return makeFile("--x", filepath.Dir(path), "file of x", always) },
		"no folder":    func() (*madeFile, error) { return makeFile("--x", filepath.Join(path, "g", "h"), "file of x", always) },
	} {
		if _, err := try(); err == nil || name != "no folder" && status(err) != statusUsage {
			t.Errorf("%s: %v, status %d", name, err, status(err))
		}
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "precious" {
		t.Errorf("it is %q, %v", got, err)
	}
}
