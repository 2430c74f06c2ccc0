package emu

import (
	"os"
	"sync"
	"testing"

	"github.com/cbactor/cbactor/cuda"
)

// Variables of the environment that say on which device tests run.
const (
	HardwareVariable = "CBACTOR_TEST_DRIVER" // path of a real one's driver, such as libcuda.so.1; without it they run on an emulated one
	LosesVariable    = "CBACTOR_TEST_LOSES"  // 1: the one test that runs may lose a real device
	RunnerVariable   = "FAKE_CUDA_RUNNER"    // library that runs kernels, for a fake driver that nobody has configured
)

// Hardware tells that tests run on a real device. Then Options that say how kernels run
// without one mean nothing, those that say what the device is like leave the test out, and
// Counts are 0.
func Hardware() bool { return os.Getenv(HardwareVariable) != "" }

// Only leaves a test out on a real device, and says why only the emulated one can run it.
func Only(tb testing.TB, why string) {
	tb.Helper()
	if Hardware() {
		tb.Skip("emulated device only: " + why)
	}
}

// LosesDevice is why Loses leaves a test out.
const LosesDevice = "it loses the device: to be run in a process of its own"

// Loses says that the test loses its device for good, which a real one is for the whole
// process: there it is left out unless it has one of its own, as LosesVariable says.
func Loses(tb testing.TB) {
	tb.Helper()
	if Hardware() && os.Getenv(LosesVariable) != "1" {
		tb.Skip(LosesDevice)
	}
}

// hardware is the driver of a real device, for a test that asks nothing else of it.
func hardware(tb testing.TB, o Options) *Driver {
	tb.Helper()
	if o.Protect || o.Version != 0 || o.Devices != 0 || o.Memory != 0 || o.Capability != 0 {
		Only(tb, "the test says what the device is like")
	}
	if err := keepContext(); err != nil {
		tb.Fatal(err)
	}
	return &Driver{Path: os.Getenv(HardwareVariable)}
}

// keepContext keeps the first device's context live for the rest of the process: to make it anew for each
// test takes longer than most of them.
var keepContext = sync.OnceValue(func() error {
	lib, err := cuda.Open(os.Getenv(HardwareVariable))
	if err != nil {
		return err
	}
	d, err := lib.Device(0)
	if err != nil {
		return err
	}
	_, err = d.Retain()
	return err
})
