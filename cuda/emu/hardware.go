package emu

import (
	"os"
	"testing"
)

// Variables of the environment that put a real device in the emulated one's place.
const (
	hardwareVariable = "CBACTOR_TEST_DRIVER" // path of its driver, such as libcuda.so.1
	losesVariable    = "CBACTOR_TEST_LOSES"  // 1: the one test that runs may lose the device
)

// runnerVariable names what runs kernels to a fake driver that nobody has configured.
const runnerVariable = "FAKE_CUDA_RUNNER"

// Hardware tells that tests run on a real device. Then Options that say how kernels run
// without one mean nothing, those that say what the device is like leave the test out, and
// Counts are 0.
func Hardware() bool { return os.Getenv(hardwareVariable) != "" }

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
// process: there it is left out unless it has one of its own, as losesVariable says.
func Loses(tb testing.TB) {
	tb.Helper()
	if Hardware() && os.Getenv(losesVariable) != "1" {
		tb.Skip(LosesDevice)
	}
}

// hardware is the driver of a real device, for a test that asks nothing else of it.
func hardware(tb testing.TB, o Options) *Driver {
	tb.Helper()
	if o.Protect || o.Version != 0 || o.Devices != 0 || o.Memory != 0 || o.Capability != 0 {
		Only(tb, "the test says what the device is like")
	}
	return &Driver{Path: os.Getenv(hardwareVariable)}
}
