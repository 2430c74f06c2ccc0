package gpuexec

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"runtime"

	"github.com/cbactor/cbactor/cuda"
	"github.com/cbactor/cbactor/cuda/cubin"
)

// Library is the variable of the environment that has the path of NVIDIA's driver, where it is
// not the one that the dynamic linker finds.
const Library = "CBACTOR_CUDA_LIBRARY"

// First is, to Open, the first device that there are kernels for.
const First = -1

// ErrDevice is the class of devices that are not there, or that there are no kernels for.
var ErrDevice = errors.New("gpuexec: no such device")

// Open opens the driver and describes a device, from 0. Errors wrap cuda.ErrUnavailable where
// there is no driver, ErrDevice, and those of package cuda.
func Open(ordinal int) (*cuda.Device, error) {
	path := os.Getenv(Library)
	lib, err := cuda.Open(path)
	if err != nil {
		if path != "" {
			err = fmt.Errorf("%s: %w", Library, err)
		}
		return nil, err
	}
	n, err := lib.Devices()
	if err != nil {
		return nil, err
	}
	if ordinal != First {
		if ordinal < 0 || ordinal >= n {
			return nil, fmt.Errorf("%w: cuda:%d of %d, which are counted from 0", ErrDevice, ordinal, n)
		}
		return describe(lib, ordinal)
	}
	unfit := error(nil)
	for i := range n {
		device, err := describe(lib, i)
		if err == nil {
			return device, nil
		}
		unfit = cmp.Or(unfit, err)
	}
	return nil, cmp.Or(unfit, fmt.Errorf("%w: the driver has none", ErrDevice))
}

// describe describes a device that there are kernels for.
func describe(lib *cuda.Library, ordinal int) (*cuda.Device, error) {
	device, err := lib.Device(ordinal)
	if err != nil {
		return nil, err
	}
	if err := cubin.Check(device.Major, device.Minor); err != nil {
		return nil, fmt.Errorf("%w: cuda:%d, %s: %w", ErrDevice, ordinal, device.Name, err)
	}
	return device, nil
}

// Room tells how many bytes of a device's memory are free, and how many it has. Its context is
// retained meanwhile, and no context is bound to the calling thread when it returns.
func Room(device *cuda.Device) (free, total int64, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	ctx, err := device.Retain()
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, ctx.Close()) }()
	if err := ctx.Bind(); err != nil {
		return 0, 0, err
	}
	f, t, err := ctx.Memory()
	return int64(f), int64(t), err
}
