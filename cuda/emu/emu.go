package emu

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/cbactor/cbactor/cuda"
)

// Options are what a driver is like. The zero value is an H200 that runs the module's
// kernels on the shim.
type Options struct {
	Kernels  string   // folder of the kernels' all.cu; empty: that of the module
	PTX      string   // file that the interpreter runs instead of the sources
	Schedule Schedule // when work is done; Lazy
	Protect  bool     // device memory cannot be touched outside of the driver's work: the process faults
	Order    int      // in which threads run: 0 forward, 1 backward, else random with this seed
	Version  int      // of CUDA; 0: 13000
	Devices  int      // 0: one; -1: none
	Memory   uint64   // bytes of the device; 0: 4 GiB

	Capability int // of the device, 80 for 8.0; 0: 90
}

// Schedule says when a driver does its work. All of them are what a real one may do.
type Schedule int

const (
	Lazy  Schedule = iota // when somebody waits for it
	Eager                 // when it is enqueued
	Hasty                 // copies as soon as what their stream waits for is done, kernels when somebody waits for anything: all, what he waits for last
)

// Counts are what a driver has done, and what it still holds.
type Counts struct {
	Launches, Graphs, Copies, Waits int // kernels and copies done, graphs launched, calls that wait
	Allocations                     int // live, on the device and pinned
	Handles                         int // live streams, events, graphs and modules
}

// Driver is a fake driver, or where Hardware says so the real one.
type Driver struct {
	*cuda.Library
	Path    string   // of the library
	runner  string   // of kernels
	control *control // nil: it is the real one
}

// Environment is what another process is started with that opens the driver at Path: it has a
// device of its own there, as the zero Options say but for Kernels.
func (d *Driver) Environment() []string { return []string{runnerVariable + "=" + d.runner} }

// Counts tells what the driver has done so far; nothing of a real one.
func (d *Driver) Counts() Counts {
	if d.control == nil {
		return Counts{}
	}
	return d.control.counts()
}

// Fail loses the device: every call from now on answers with this result of the driver. A
// test that calls it has called Only.
func (d *Driver) Fail(code int) { d.control.fail(code) }

// Open opens a driver that no other test has, unless it is a real one.
func Open(tb testing.TB, o Options) *Driver {
	tb.Helper()
	d := New(tb, o)
	lib, err := cuda.Open(d.Path)
	if err != nil {
		tb.Fatal(err)
	}
	d.Library = lib
	return d
}

// New makes a driver at Path that is not opened yet.
func New(tb testing.TB, o Options) *Driver {
	tb.Helper()
	if Hardware() {
		return hardware(tb, o)
	}
	skip(tb)
	b := newBuilder(tb)
	runner := b.runner(o)
	path := filepath.Join(tb.TempDir(), cuda.DefaultPath)
	if err := copyFile(path, b.driver()); err != nil { // a file of its own: the linker opens a file once
		tb.Fatal(err)
	}
	c, err := newControl(path)
	if err != nil {
		tb.Fatal(err)
	}
	c.configure(o.settled(), runner)
	return &Driver{Path: path, runner: runner, control: c}
}

// settled has what zeros stand for.
func (o Options) settled() Options {
	if o.Version == 0 {
		o.Version = 13000
	}
	if o.Devices == 0 {
		o.Devices = 1
	}
	if o.Capability == 0 {
		o.Capability = 90
	}
	o.Devices = max(0, o.Devices)
	if o.Memory == 0 {
		o.Memory = 4 << 30
	}
	return o
}

// skip leaves a test out where this machine cannot run kernels. One that only lacks the
// compiler fails instead, if the tests are to be whole.
func skip(tb testing.TB) {
	tb.Helper()
	if !hasControl {
		tb.Skip("this test was built without cgo, or not for Linux")
	}
	if runtime.GOARCH != "amd64" {
		tb.Skipf("fibers are written for x86-64, and this is %s", runtime.GOARCH)
	}
	if _, err := exec.LookPath(compiler); err == nil {
		return
	}
	const why = "no " + compiler + " in PATH: install it to run kernels on the CPU"
	if os.Getenv("CBACTOR_REQUIRE_ASSETS") == "1" {
		tb.Fatal(why)
	}
	tb.Skip(why)
}
