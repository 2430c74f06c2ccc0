package emu

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// hashFiles writes all of a folder's files with their names.
func hashFiles(to io.Writer, from fs.FS) error {
	return fs.WalkDir(from, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(from, path)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(to, "%s %d\n%s", path, len(b), b)
		return err
	})
}

func copyFile(to, from string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, b, 0o755)
}

// install puts a copy of a file in its place, whole or not at all.
func install(to, from string) error {
	part, err := os.MkdirTemp(filepath.Dir(to), "part-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(part) // empty when all went well
	whole := filepath.Join(part, "whole")
	if err := copyFile(whole, from); err != nil {
		return err
	}
	return os.Rename(whole, to)
}

// instructions are the flags for this processor: with AVX2 and FMA where it has them,
// since a fused product costs a call where it has not.
func instructions() []string {
	b, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return nil
	}
	_, flags, _ := bytes.Cut(b, []byte("\nflags"))
	line, _, _ := strings.Cut(string(flags), "\n")
	for _, need := range []string{" fma", " avx2", " bmi2", " f16c"} {
		if !strings.Contains(line+" ", need+" ") {
			return nil
		}
	}
	return []string{"-mavx2", "-mfma", "-mbmi2", "-mf16c"}
}

// moduleRoot is the folder of go.mod, in or above the one that the test runs in.
func moduleRoot(tb testing.TB) string {
	tb.Helper()
	dir, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			tb.Fatal("no go.mod above the test's folder")
		}
		dir = filepath.Dir(dir)
	}
}
