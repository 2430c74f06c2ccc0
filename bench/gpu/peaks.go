package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/cbactor/cbactor/cuda"
	"github.com/cbactor/cbactor/cuda/cublaslt"
	"github.com/cbactor/cbactor/cuda/kernels"
)

// The data sheet's figures of an H200 (SXM): bandwidth of its memory, and products of bf16 summed up in
// float32, dense.
const (
	nominalTBs   = 4.8
	nominalFLOPs = 989
)

// sizes are how large what is measured is.
type sizes struct {
	copied int // bytes
	square int // rows of the largest product
	spread int // bytes over which kernels that are bound by memory go, more than the L2 cache has
}

// whole are those for a GPU, little those for an emulated one.
var (
	whole  = sizes{copied: 1 << 30, square: 8192, spread: 512 << 20}
	little = sizes{copied: 1 << 16, square: 128, spread: 1 << 17}
)

// measurePeaks measures what shares are of.
func (r *rig) measurePeaks(s sizes) (peaks, error) {
	p := peaks{NominalTBs: nominalTBs, NominalFLOPs: nominalFLOPs}
	from, to := r.take(s.copied), r.room(s.copied)
	took, err := r.time(func(int) error { return r.stream.Copy(to, from, s.copied) })
	if err != nil {
		return p, err
	}
	p.CopyTBs = 2 * float64(s.copied) / took.Seconds() / 1e12
	if err := r.give(from, to); err != nil {
		return p, err
	}
	n := s.square
	a, w, out := r.take(2*n*n), r.take(2*n*n), r.room(4*n*n)
	took, err = r.time(func(int) error { return r.set.Gemm(r.stream, out, a, kernels.Weights{At: w}, n, n, n, 1) })
	if err != nil {
		return p, err
	}
	operations := 2 * float64(n) * float64(n) * float64(n)
	p.GemmTFLOPs = operations / took.Seconds() / 1e12
	took, err = r.vendors(out, a, w, n)
	switch {
	case errors.Is(err, cublaslt.ErrUnavailable), errors.Is(err, cublaslt.ErrNoAlgorithm):
	case err != nil:
		return p, fmt.Errorf("cublasLt: %w", err)
	default:
		p.VendorTFLOPs = operations / took.Seconds() / 1e12
	}
	return p, r.give(a, w, out)
}

// vendors is the time of the same product by cublasLt.
func (r *rig) vendors(out, a, w cuda.Pointer, n int) (took time.Duration, err error) {
	lib, err := cublaslt.Open("")
	if err != nil {
		return 0, err
	}
	h, err := lib.NewHandle()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	p, err := h.Product(n, n, n)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	workspace := r.room(cublaslt.Workspace)
	if took, err = r.time(func(int) error { return p.Run(r.stream, out, a, w, workspace) }); err != nil {
		return 0, err
	}
	return took, r.give(workspace)
}

// spreadOver is how many pieces of so many bytes lie in what is larger than the cache, one at least.
func (r *rig) spreadOver(bytes int) int { return max(1, r.spread/bytes) }

// at is piece i of so many, which follow one another.
func at(p cuda.Pointer, i, pieces, bytes int) cuda.Pointer {
	return p + cuda.Pointer(i%pieces*bytes)
}
