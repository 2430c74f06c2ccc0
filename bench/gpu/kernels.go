package main

import (
	"fmt"
	"time"
	"unsafe"

	"github.com/cbactor/cbactor/cuda"
	"github.com/cbactor/cbactor/cuda/kernels"
	"github.com/cbactor/cbactor/model"
)

// bench measures the kernels of a model for steps of so many tokens, each of another sequence with a
// context of so many positions.
type bench struct {
	*rig
	peaks   peaks
	m       *model.Config
	context int
	out     []kernelReport
}

// measureKernels measures all of them for decoding steps, and for a step of prompts what computes those.
func (b *bench) measureKernels(decoding []int, prompt int) ([]kernelReport, error) {
	var all []func() error
	for _, t := range decoding {
		all = append(all,
			func() error { return b.products(t) }, func() error { return b.head(t) }, func() error { return b.attention(t, 1) },
			func() error { return b.rows(t) }, func() error { return b.draws(t) })
	}
	all = append(all,
		func() error { return b.products(prompt) }, func() error { return b.attention(max(1, prompt/b.context), b.context) },
		func() error { return b.rows(prompt) })
	for _, measure := range all {
		if err := measure(); err != nil {
			return b.out, err
		}
	}
	return b.out, nil
}

// note notes what a kernel took, and what it must read, write and compute.
func (b *bench) note(kernel string, tokens int, took time.Duration, bytes, flops float64) {
	seconds := took.Seconds()
	tb, tf := bytes/seconds/1e12, flops/seconds/1e12
	b.out = append(b.out, kernelReport{
		Kernel: kernel, Tokens: tokens, Micros: 1e6 * seconds, Bytes: bytes, FLOPs: flops,
		OfCopy: tb / b.peaks.CopyTBs, OfNominal: tb / b.peaks.NominalTBs,
		OfGemm: tf / b.peaks.GemmTFLOPs, OfNominalF: tf / b.peaks.NominalFLOPs,
	})
}

// products measures those of a layer, of weights in every format.
func (b *bench) products(t int) error {
	for _, f := range []kernels.Format{kernels.BF16, kernels.Q8, kernels.Q4} {
		if err := b.productsOf(f, t); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) productsOf(f kernels.Format, t int) error {
	m := b.m
	q, kv := m.Heads*m.HeadDim, m.KVHeads*m.HeadDim
	for _, p := range []struct {
		name string
		n, k int
	}{{"gemm qkv", q + 2*kv, m.Hidden}, {"gemm out", m.Hidden, q}, {"gemm down", m.Hidden, m.Intermediate}} {
		k := padded(p.k)
		count := kernels.Parts(t, p.n, k)
		err := b.product(p.name, f, t, p.n, k, 4*count*t*p.n, func(out, a cuda.Pointer, w kernels.Weights) error {
			return b.set.Gemm(b.stream, out, a, w, t, p.n, k, count)
		})
		if err != nil {
			return err
		}
	}
	n, k, ld := 2*m.Intermediate, padded(m.Hidden), padded(m.Intermediate)
	return b.product("gate up", f, t, n, k, 2*t*ld, func(out, a cuda.Pointer, w kernels.Weights) error {
		return b.set.GemmGate(b.stream, out, a, w, 0, kernels.Added{}, t, n, k, ld, int(m.Activation))
	})
}

// head measures the product that gives logits.
func (b *bench) head(t int) error {
	n, k := b.m.Vocab, padded(b.m.Hidden)
	return b.product("gemm head", kernels.BF16, t, n, k, 4*t*n, func(out, a cuda.Pointer, w kernels.Weights) error {
		return b.set.Gemm(b.stream, out, a, w, t, n, k, 1)
	})
}

// product measures one of t rows, which writes so many bytes. Each time it takes its matrix from another
// place, as far as the cache could have it. The name is told with the format of packed weights.
func (b *bench) product(name string, f kernels.Format, t, n, k, written int, launch func(out, a cuda.Pointer, w kernels.Weights) error) error {
	if f != kernels.BF16 {
		name += " " + f.String()
	}
	bytes := int(f.Bytes(n, k))
	pieces := b.spreadOver(bytes)
	w, a, out := b.take(pieces*bytes), b.take(2*t*k), b.room(written)
	took, err := b.time(func(i int) error {
		return launch(out, a, kernels.Weights{At: at(w, i, pieces, bytes), Format: f})
	})
	if err != nil {
		return fmt.Errorf("%s of %d: %w", name, t, err)
	}
	b.note(name, t, took, float64(bytes+2*t*k+written), 2*float64(t)*float64(n)*float64(k))
	return b.give(w, a, out)
}

// rows measures what stands between products.
func (b *bench) rows(t int) error {
	n, width := b.m.Hidden, padded(b.m.Hidden)
	x, y, parts, norm := b.room(4*t*n), b.room(2*t*width), b.room(4*t*n), b.room(4*n)
	took, err := b.time(func(int) error {
		return b.set.Residual(b.stream, x, y, parts, 0, kernels.Added{}, 0, norm, 1, t, n, width, 1, float32(b.m.NormEps))
	})
	if err != nil {
		return fmt.Errorf("residual of %d: %w", t, err)
	}
	b.note("residual", t, took, float64(t)*float64(12*n+2*width), 0)
	return b.give(x, y, parts, norm)
}

// padded is the length of a row that a product takes: a multiple of 32.
func padded(n int) int { return (n + 31) &^ 31 }

// bytesOf is the memory of numbers.
func bytesOf(numbers []int32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(numbers))), 4*len(numbers))
}

// ascending are n numbers from 0.
func ascending(n int) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = int32(i)
	}
	return out
}
