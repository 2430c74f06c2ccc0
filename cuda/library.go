package cuda

import (
	"errors"
	"unsafe"
)

// DefaultPath is the name of NVIDIA's driver, which the dynamic linker finds.
const DefaultPath = "libcuda.so.1"

// Library is a driver that was opened and initialised.
type Library struct {
	driver *driver
}

// Open opens a driver and initialises it; an empty path is DefaultPath. Errors wrap
// ErrUnavailable; they are *Unavailable.
func Open(path string) (*Library, error) {
	if path == "" {
		path = DefaultPath
	}
	d, err := openDriver(path)
	if err != nil {
		return nil, err
	}
	l := &Library{driver: d}
	if err := l.call(cuInit, 0); err != nil {
		return nil, refused(err)
	}
	return l, nil
}

// refused is what cuInit has refused, which it does where it finds no device.
func refused(err error) error {
	u := &Unavailable{Lacks: "driver", Why: err.Error(), Do: "see what nvidia-smi says", Err: err}
	if e := (*Error)(nil); errors.As(err, &e) && e.Code == noDevice {
		u.Lacks, u.Why, u.Do = "device", "the driver finds none", "attach an NVIDIA GPU, or show it to this process, as CUDA_VISIBLE_DEVICES does"
	}
	return u
}

// Version is the newest version of CUDA that the driver knows, 1000 times its first number
// and 10 times its second: 13.0 is 13000.
func (l *Library) Version() (int, error) {
	v, err := l.value(cuDriverGetVersion)
	return int(int32(v)), err
}

// Devices is how many devices the driver has.
func (l *Library) Devices() (int, error) {
	n, err := l.value(cuDeviceGetCount)
	return int(int32(n)), err
}

// call calls a function of integers.
func (l *Library) call(f function, args ...uintptr) error {
	var a [11]uintptr
	copy(a[:], args)
	return l.check(f, l.driver.call(f, &a, 0, -1, nil))
}

// value calls a function that writes a value to where its first argument points; args are the others.
func (l *Library) value(f function, args ...uintptr) (uintptr, error) {
	var a [11]uintptr
	copy(a[1:], args)
	r := l.driver.call(f, &a, 1, -1, nil)
	return a[0], l.check(f, r)
}

// with calls a function whose argument at is memory of this process.
func (l *Library) with(p unsafe.Pointer, at int, f function, args ...uintptr) error {
	var a [11]uintptr
	copy(a[:], args)
	return l.check(f, l.driver.call(f, &a, 0, at, p))
}

// check makes an error of a result.
func (l *Library) check(f function, result int) error {
	if result == success {
		return nil
	}
	return &Error{Call: f.String(), Code: result, Name: l.name(result)}
}

// name asks the driver what it calls a result.
func (l *Library) name(result int) string {
	a := [11]uintptr{uintptr(result)}
	if l.driver.call(cuGetErrorName, &a, 2, -1, nil) != success || a[1] == 0 {
		return "an error that the driver has no name for"
	}
	return text(a[1])
}
