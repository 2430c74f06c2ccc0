//go:build !cgo || !linux

package cuda

import "unsafe"

// Supported says whether this build can call a driver.
const Supported = false

// driver is what there is none of in this build: openDriver makes none, so that its
// methods, which the rest of the package is compiled against, are never called.
type driver struct{}

func openDriver(string) (*driver, error) {
	return nil, &Unavailable{Lacks: "driver", Why: "this program was built without cgo, or not for Linux", Do: "build it with CGO_ENABLED=1 and a C compiler"}
}

func (*driver) call(function, *[11]uintptr, uint32, int, unsafe.Pointer) int { return notInitialized }

func (*driver) launch(*[9]uintptr, []Arg) int { return notInitialized }

func text(uintptr) string { return "" }

// notInitialized is CUDA_ERROR_NOT_INITIALIZED.
const notInitialized = 3
