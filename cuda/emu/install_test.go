package emu

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/cuda"
)

// TestInstall puts a driver with what runs kernels where other processes find both: into the
// folder that CBACTOR_EMU_INSTALL names, or one of the test. There the driver works with nothing
// but its environment.
func TestInstall(t *testing.T) {
	Only(t, "there is nothing to install")
	dir := os.Getenv("CBACTOR_EMU_INSTALL")
	if dir == "" {
		dir = t.TempDir()
	}
	for name, kernels := range map[string]string{"kernels.so": "", "tests.so": "testdata/kernels"} {
		d := New(t, Options{Kernels: kernels})
		if err := copyFile(filepath.Join(dir, name), d.runner); err != nil {
			t.Fatal(err)
		}
		if err := copyFile(filepath.Join(dir, cuda.DefaultPath), d.Path); err != nil {
			t.Fatal(err)
		}
	}
	d := &Driver{Path: filepath.Join(dir, cuda.DefaultPath), runner: filepath.Join(dir, "tests.so")}
	for _, set := range d.Environment() {
		name, value, _ := strings.Cut(set, "=")
		t.Setenv(name, value)
	}
	lib, err := cuda.Open(d.Path)
	if err != nil {
		t.Fatal(err)
	}
	image, err := os.ReadFile("testdata/kernels/all.cubin")
	if err != nil {
		t.Fatal(err)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	device, err := lib.Device(0)
	if err != nil {
		t.Fatal(err)
	}
	ctx, err := device.Retain()
	if err != nil {
		t.Fatal(err)
	}
	if err := ctx.Bind(); err != nil {
		t.Fatal(err)
	}
	m, err := ctx.Load(image)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Function("axpy"); err != nil {
		t.Error(err)
	}
}
