package cuda

import (
	"errors"
	"fmt"
	"slices"
)

var (
	// ErrUnavailable is the class of Unavailable.
	ErrUnavailable = errors.New("cuda: unavailable")
	// ErrOutOfMemory means that the device, or the host's pinned memory, has no room.
	// Everything else goes on.
	ErrOutOfMemory = errors.New("cuda: out of memory")
	// ErrDeviceLost means that the context is lost: every later call fails, too, and what
	// lay on the device is gone.
	ErrDeviceLost = errors.New("cuda: device lost")
	// ErrCall means that an argument cannot be what the driver takes; the driver was not asked.
	ErrCall = errors.New("cuda: invalid call")
)

// Results of the driver that are told apart (CUresult of the driver API's reference).
const (
	success     = 0
	outOfMemory = 2
	noDevice    = 100
	notReady    = 600
)

// Unavailable says why there is no driver to call, or none that has a device.
type Unavailable struct {
	Lacks string // "driver" or "device"
	Why   string // what is wrong
	Do    string // what to do about it
	Err   error  // a *Error where the driver itself has refused; else nil
}

func (u *Unavailable) Error() string { return fmt.Sprintf("cuda: no %s: %s: %s", u.Lacks, u.Why, u.Do) }

// Unwrap gives the class, and the driver's own error.
func (u *Unavailable) Unwrap() []error {
	if u.Err == nil {
		return []error{ErrUnavailable}
	}
	return []error{ErrUnavailable, u.Err}
}

// noDriver says why a library is no driver that will do.
func noDriver(why string) error {
	return &Unavailable{Lacks: "driver", Why: why, Do: "install NVIDIA's driver, 525 or newer"}
}

// lost are the results after which a context cannot be used any more: uncorrectable errors
// of memory and links, a device that went away, and all faults of a running kernel.
var lost = []int{
	214,      // ECC_UNCORRECTABLE
	220,      // NVLINK_UNCORRECTABLE
	700, 702, // ILLEGAL_ADDRESS, LAUNCH_TIMEOUT
	709, 710, // CONTEXT_IS_DESTROYED, ASSERT
	714, 715, 716, 717, 718, 719, // faults of the hardware while a kernel runs, LAUNCH_FAILED
	999, // UNKNOWN
}

// Error is a call that the driver refused, or the failure of earlier work that it tells of.
type Error struct {
	Call string // as the reference has it, such as cuMemAlloc
	Code int    // CUresult
	Name string // of the code, such as CUDA_ERROR_OUT_OF_MEMORY
}

func (e *Error) Error() string {
	s := fmt.Sprintf("cuda: %s: %s (%d)", e.Call, e.Name, e.Code)
	if e.Is(ErrDeviceLost) {
		s += ": the device is lost to this process: start it again"
	}
	return s
}

// Is makes errors.Is find ErrOutOfMemory and ErrDeviceLost.
func (e *Error) Is(target error) bool {
	switch target {
	case ErrOutOfMemory:
		return e.Code == outOfMemory
	case ErrDeviceLost:
		return slices.Contains(lost, e.Code)
	}
	return false
}
