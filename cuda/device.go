package cuda

import (
	"bytes"
	"fmt"
	"unsafe"
)

// Attributes of a device (CUdevice_attribute of the driver API's reference).
const (
	attributeMajor = 75
	attributeMinor = 76
)

// Device is what the driver says of a device.
type Device struct {
	Ordinal      int
	Name         string
	UUID         string // as nvidia-smi has it, GPU-...
	Memory       uint64 // bytes
	Major, Minor int    // compute capability: 9.0 is Hopper

	lib    *Library
	handle uintptr
}

// Device describes device ordinal, from 0. CUDA_ERROR_INVALID_DEVICE: there is none.
func (l *Library) Device(ordinal int) (*Device, error) {
	handle, err := l.value(cuDeviceGet, uintptr(uint32(ordinal)))
	if err != nil {
		return nil, err
	}
	d := &Device{Ordinal: ordinal, lib: l, handle: uintptr(uint32(handle))}
	var name [256]byte
	if err := l.with(unsafe.Pointer(&name), 0, cuDeviceGetName, 0, uintptr(len(name)), d.handle); err != nil {
		return nil, err
	}
	d.Name = cutZero(name[:])
	var id [16]byte
	if err := l.with(unsafe.Pointer(&id), 0, cuDeviceGetUuid, 0, d.handle); err != nil {
		return nil, err
	}
	d.UUID = fmt.Sprintf("GPU-%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
	memory, err := l.value(cuDeviceTotalMem, d.handle)
	if err != nil {
		return nil, err
	}
	d.Memory = uint64(memory)
	return d, d.attributes()
}

func (d *Device) attributes() error {
	for attribute, to := range map[uintptr]*int{
		attributeMajor: &d.Major,
		attributeMinor: &d.Minor,
	} {
		v, err := d.lib.value(cuDeviceGetAttribute, attribute, d.handle)
		if err != nil {
			return err
		}
		*to = int(int32(v))
	}
	return nil
}

// cutZero is the text before the first zero.
func cutZero(b []byte) string {
	before, _, _ := bytes.Cut(b, []byte{0})
	return string(before)
}
