package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/cuda/cublaslt"
	"github.com/cbactor/cbactor/cuda/emu"
)

// TestRun measures the tiny shape on the fake driver: all parts are there, and their sizes are right.
func TestRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "report.json")
	driver := emu.New(t, emu.Options{})
	t.Setenv(cublaslt.PathVariable, driver.CublasLt(t).Path)
	o := options{shapes: "tiny", driver: driver.Path, out: file, little: true}
	var table bytes.Buffer
	if err := run(&o, &table); err != nil {
		t.Fatal(err)
	}
	js, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var r report
	if err := json.Unmarshal(js, &r); err != nil {
		t.Fatal(err)
	}
	s := r.Shapes[0]
	batches := len(forEmulator.batches)
	if r.Peaks.CopyTBs <= 0 || r.Peaks.GemmTFLOPs <= 0 || r.Peaks.VendorTFLOPs <= 0 || len(s.Kernels) != 18*batches+15 || len(s.Steps) != 2*batches || len(s.Engine) != batches {
		t.Fatalf("%s", js)
	}
	if k := s.Kernels[0]; k.Kernel != "gemm qkv" || k.Tokens != 1 || k.FLOPs != 2*128*64 || k.Micros <= 0 {
		t.Errorf("%+v", k)
	}
	for _, d := range s.Steps {
		if d.BusyUs <= 0 || d.TokensS <= 0 || !(d.BusyShare > 0 && d.BusyShare <= 1) {
			t.Errorf("%+v", d)
		}
	}
	for _, e := range s.Engine {
		if e.WholeS <= 0 || e.FirstMs <= 0 {
			t.Errorf("%+v", e)
		}
	}
	if !strings.Contains(table.String(), "CPU as a GPU") || !strings.Contains(table.String(), "gemm head") || !strings.Contains(table.String(), "graphs") {
		t.Errorf("%s", table.String())
	}
}

// TestShapes looks at how many parameters the shapes have, which their names say.
func TestShapes(t *testing.T) {
	for _, s := range shapes[1:] {
		_, m, err := shapeNamed(s.name)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, tensor := range m.Tensors() {
			n += tensor.Elements()
		}
		want := map[string]float64{"0.5b": 0.49, "1.5b": 1.54, "4b": 4.02, "8b": 8.03}[s.name]
		if got := float64(n) / 1e9; got < want-0.01 || got > want+0.01 {
			t.Errorf("%s has %.3f billion parameters, %s has %.2f", s.name, got, s.like, want)
		}
	}
	if _, _, err := shapeNamed("70b"); err == nil || !strings.Contains(err.Error(), "take one of tiny, 0.5b") {
		t.Errorf("%v", err)
	}
}

// TestUnknownShape measures nothing where one of the shapes is not known.
func TestUnknownShape(t *testing.T) {
	var said bytes.Buffer
	err := run(&options{shapes: "tiny,70b", driver: emu.New(t, emu.Options{}).Path, little: true}, &said)
	if err == nil || !strings.Contains(err.Error(), `"70b"`) || said.Len() > 0 {
		t.Errorf("%v: %s", err, said.String())
	}
}

func TestNoDriver(t *testing.T) {
	if err := run(&options{shapes: "tiny", driver: "libnothing.so.1"}, os.Stdout); err == nil || !strings.Contains(err.Error(), "libnothing.so.1") && !strings.Contains(err.Error(), "CGO_ENABLED=1") {
		t.Errorf("%v", err)
	}
}
