package cublaslt_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/cuda/cublaslt"
	"github.com/cbactor/cbactor/cuda/emu"
)

// Without a library the error says what to do, in a line.
func TestNoLibrary(t *testing.T) {
	for _, path := range []string{"libnothing.so", t.TempDir()} {
		_, err := cublaslt.Open(path)
		if !errors.Is(err, cublaslt.ErrUnavailable) || !strings.Contains(err.Error(), cublaslt.PathVariable) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v", path, err)
		}
	}
	if _, err := cublaslt.Open("libm.so.6"); !errors.Is(err, cublaslt.ErrUnavailable) {
		t.Errorf("the library of mathematics: %v", err)
	}
}

// A path may be a folder's, and come from the environment.
func TestOpen(t *testing.T) {
	fake := emu.New(t, emu.Options{}).CublasLt(t).Path
	for _, path := range []string{fake, filepath.Dir(fake), ""} {
		t.Setenv(cublaslt.PathVariable, filepath.Dir(fake))
		l, err := cublaslt.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if l.Path != fake || l.Version != 130100 {
			t.Errorf("%q: %+v", path, l)
		}
	}
}

// The real library has all functions that are looked up, where CBACTOR_CUBLASLT_REAL names it: half
// a gigabyte of the Python package nvidia-cublas, which no other test needs.
func TestNamesAreNVIDIAs(t *testing.T) {
	path := os.Getenv("CBACTOR_CUBLASLT_REAL")
	if path == "" {
		t.Skip("CBACTOR_CUBLASLT_REAL does not name libcublasLt.so.13 or its folder")
	}
	l, err := cublaslt.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("cublasLt %d", l.Version)
	if l.Version < 120000 {
		t.Errorf("version %d", l.Version)
	}
}
