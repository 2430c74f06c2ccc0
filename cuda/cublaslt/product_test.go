package cublaslt_test

import (
	"errors"
	"testing"

	"github.com/cbactor/cbactor/cuda"
	"github.com/cbactor/cbactor/cuda/cublaslt"
	"github.com/cbactor/cbactor/cuda/emu"
)

func TestProduct(t *testing.T) {
	for _, o := range []emu.Options{{}, {Schedule: emu.Eager, Protect: true}} {
		r := newRig(t, o)
		for _, s := range []sizes{{1, 1, 32}, {70, 33, 96}, {128, 64, 64}} {
			p, err := r.handle.Product(s.m, s.n, s.k)
			r.ok(err)
			with := r.operands(s)
			r.ok(p.Run(r.stream, with.out, with.a, with.w, r.workspace))
			r.wants(s, r.result(s, with))
			r.ok(p.Close())
		}
		if n := r.library.Products(); n != 3 {
			t.Errorf("%d products were done, want 3", n)
		}
	}
}

// An algorithm is chosen before a capture: in one the library refuses to. What was captured is done
// at each launch of the graph.
func TestCapture(t *testing.T) {
	r := newRig(t, emu.Options{})
	s := sizes{64, 32, 32}
	p, err := r.handle.Product(s.m, s.n, s.k)
	r.ok(err)
	with := r.operands(s)
	g, err := r.stream.Capture(func() error { return p.Run(r.stream, with.out, with.a, with.w, r.workspace) })
	r.ok(err)
	for range 2 {
		r.ok(g.Launch(r.stream))
	}
	r.wants(s, r.result(s, with))
	if n := r.library.Products(); n != 2 {
		t.Errorf("%d products were done, want 2", n)
	}
	r.ok(g.Close())
	r.ok(p.Close())

	_, err = r.stream.Capture(func() error {
		_, err := r.handle.Product(s.m, s.n, s.k)
		return err
	})
	refused(t, "a choice in a capture", err, "cublasLtMatmulAlgoGetHeuristic", 14)
}

func TestRefusals(t *testing.T) {
	r := newRig(t, emu.Options{})
	s := sizes{64, 32, 32}
	p, err := r.handle.Product(s.m, s.n, s.k)
	r.ok(err)
	with := r.operands(s)
	refused(t, "a workspace off its alignment", p.Run(r.stream, with.out, with.a, with.w, r.workspace+8), "cublasLtMatmul", 7)
	refused(t, "a factor off its alignment", p.Run(r.stream, with.out, with.a+64, with.w, r.workspace), "cublasLtMatmul", 7)
	_, err = r.handle.Product(0, s.n, s.k)
	refused(t, "a product of no rows", err, "cublasLtMatrixLayoutCreate", 7)
	r.ok(p.Close())
}

// A handle is for the context of its thread.
func TestNoContext(t *testing.T) {
	lib, err := cublaslt.Open(emu.Open(t, emu.Options{}).CublasLt(t).Path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = lib.NewHandle()
	refused(t, "a handle without a context", err, "cublasLtCreate", 1)
}

// Memory that is too short is a fault of the device, which whoever waits for it is told.
func TestShortMemory(t *testing.T) {
	r := newRig(t, emu.Options{})
	r.loses = true
	s := sizes{64, 32, 32}
	p, err := r.handle.Product(s.m, s.n, s.k)
	r.ok(err)
	short := r.operands(sizes{63, 32, 32})
	r.ok(p.Run(r.stream, short.out, short.a, short.w, r.workspace))
	if err := r.stream.Synchronize(); !errors.Is(err, cuda.ErrDeviceLost) {
		t.Errorf("%v", err)
	}
}

func TestRunAllocatesNothing(t *testing.T) {
	r := newRig(t, emu.Options{})
	s := sizes{1, 1, 32}
	p, err := r.handle.Product(s.m, s.n, s.k)
	r.ok(err)
	with := r.operands(s)
	if n := testing.AllocsPerRun(20, func() { r.ok(p.Run(r.stream, with.out, with.a, with.w, r.workspace)) }); n != 0 {
		t.Errorf("%g allocations", n)
	}
	r.ok(p.Close())
}

// refused wants the library to refuse a call.
func refused(t *testing.T, what string, err error, call string, status int) {
	t.Helper()
	if e := (*cublaslt.Error)(nil); !errors.As(err, &e) || e.Call != call || e.Status != status {
		t.Errorf("%s: %v, want %s to answer %d", what, err, call, status)
	}
}
