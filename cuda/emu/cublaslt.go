package emu

import (
	"path/filepath"
	"testing"
)

// CublasLt is a fake cublasLt over a fake driver: package cuda/cublaslt opens it by its Path. It
// refuses layouts, types and alignments that the real library has no fast algorithm for, and the
// choice of an algorithm in a capture; it enqueues like a launch; its sums depend on how many rows
// there are.
type CublasLt struct {
	Path    string
	control *ltControl
}

// Products is how many products were done.
func (l *CublasLt) Products() int { return l.control.products() }

// CublasLt makes a library over the driver. On a real device the test is left out.
func (d *Driver) CublasLt(tb testing.TB) *CublasLt {
	tb.Helper()
	Only(tb, "the library is a fake over the fake driver")
	path := filepath.Join(tb.TempDir(), "libcublasLt.so.13")
	if err := copyFile(path, newBuilder(tb).library("cublaslt", nil, "cublaslt/*.cc")); err != nil { // a file of its own, as the driver's
		tb.Fatal(err)
	}
	c, err := newLtControl(path, d.Path)
	if err != nil {
		tb.Fatal(err)
	}
	return &CublasLt{Path: path, control: c}
}
