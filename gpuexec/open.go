package gpuexec

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"

	"github.com/cbactor/cbactor/cuda"
	"github.com/cbactor/cbactor/cuda/cubin"
)

// First is, to Open, the first device that there are kernels for.
const First = -1

// ErrDevice is the class of Unusable.
var ErrDevice = errors.New("gpuexec: no such device")

// Unusable is a device that is not there, or that there are no kernels for.
type Unusable struct {
	Why string // what is wrong
	Do  string // what to do about it
}

func (u *Unusable) Error() string { return u.Why + ": " + u.Do }

// Unwrap gives the class.
func (u *Unusable) Unwrap() error { return ErrDevice }

// Open opens the driver and describes a device, from 0. Errors are those of Driver and of package cuda,
// and *Unusable.
func Open(ordinal int) (*cuda.Device, error) {
	lib, err := Driver()
	if err != nil {
		return nil, err
	}
	n, err := lib.Devices()
	if err != nil {
		return nil, err
	}
	if ordinal != First {
		if ordinal < 0 || ordinal >= n {
			return nil, among(n)
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
	return nil, cmp.Or(unfit, among(n))
}

// among says which devices of a driver there are, where another one is asked for.
func among(n int) error {
	const list = "(`cbactor devices` lists them)"
	switch n {
	case 0:
		return &Unusable{"the driver has no GPU", "attach one"}
	case 1:
		return &Unusable{"there is one GPU, cuda:0", "take that " + list}
	}
	return &Unusable{fmt.Sprintf("there are %d GPUs, cuda:0 to cuda:%d", n, n-1), "take one of them " + list}
}

// describe describes a device that there are kernels for.
func describe(lib *cuda.Library, ordinal int) (*cuda.Device, error) {
	device, err := lib.Device(ordinal)
	if err != nil {
		return nil, err
	}
	if err := cubin.Check(device.Major, device.Minor); err != nil {
		return nil, &Unusable{fmt.Sprintf("cuda:%d, %s: %v", ordinal, device.Name, err), "take another GPU"}
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
