package cuda

import (
	"fmt"
	"unsafe"
)

// Attributes of a function (CUfunction_attribute of the driver API's reference).
const (
	attributeShared    = 1
	attributeLocal     = 3
	attributeRegisters = 4
	attributeDynamic   = 8
)

// Module is code on the device.
type Module struct {
	lib    *Library
	handle uintptr
}

// Load loads a cubin, or PTX, which the driver compiles. CUDA_ERROR_NO_BINARY_FOR_GPU: it
// is for another architecture; CUDA_ERROR_UNSUPPORTED_PTX_VERSION: the driver is too old
// for this PTX.
func (c *Context) Load(image []byte) (*Module, error) {
	if len(image) == 0 {
		return nil, fmt.Errorf("%w: a module without content", ErrCall)
	}
	// The driver reads PTX to a zero and a cubin by its own header.
	ended := append(append(make([]byte, 0, len(image)+1), image...), 0)
	var a [11]uintptr
	r := c.lib.driver.call(cuModuleLoadData, &a, 1, 1, unsafe.Pointer(&ended[0]))
	if err := c.lib.check(cuModuleLoadData, r); err != nil {
		return nil, err
	}
	return &Module{lib: c.lib, handle: a[0]}, nil
}

// Close unloads the module; its functions are gone.
func (m *Module) Close() error { return m.lib.call(cuModuleUnload, m.handle) }

// Function is a kernel of a module.
type Function struct {
	lib    *Library
	handle uintptr
	name   string
}

// Function finds a kernel. CUDA_ERROR_NOT_FOUND: the module has none of that name.
func (m *Module) Function(name string) (*Function, error) {
	ended := append([]byte(name), 0)
	a := [11]uintptr{1: m.handle}
	r := m.lib.driver.call(cuModuleGetFunction, &a, 1, 2, unsafe.Pointer(&ended[0]))
	if err := m.lib.check(cuModuleGetFunction, r); err != nil {
		return nil, fmt.Errorf("%w: kernel %s", err, name)
	}
	return &Function{lib: m.lib, handle: a[0], name: name}, nil
}

// Usage is what a kernel takes, as the compiler has decided.
type Usage struct {
	Registers int // of a thread
	Local     int // bytes of a thread that lie in memory instead: spilled registers, arrays
	Shared    int // bytes of shared memory of a block, beside what a launch asks for
}

// Usage tells what the kernel takes.
func (f *Function) Usage() (u Usage, err error) {
	for attribute, to := range map[uintptr]*int{attributeRegisters: &u.Registers, attributeLocal: &u.Local, attributeShared: &u.Shared} {
		v, err := f.lib.value(cuFuncGetAttribute, attribute, f.handle)
		if err != nil {
			return Usage{}, err
		}
		*to = int(int32(v))
	}
	return u, nil
}

// AllowShared lets launches ask for up to n bytes of shared memory. Without it they may
// ask for 48 KiB less what the kernel has by itself.
func (f *Function) AllowShared(n int) error {
	return f.lib.call(cuFuncSetAttribute, f.handle, attributeDynamic, uintptr(n))
}
