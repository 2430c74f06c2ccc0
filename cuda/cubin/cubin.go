package cubin

import (
	"bytes"
	"compress/gzip"
	"embed"
	"errors"
	"fmt"
	"io"
)

// ErrDevice means that there are no kernels for a device.
var ErrDevice = errors.New("no kernels for this device")

//go:embed *.gz
var files embed.FS

// Architectures that have a cubin, ascending: 10 times the major number of the compute
// capability, and the minor one.
var architectures = []int{80, 89, 90, 100, 120}

// For is the kernels for a device of a compute capability: a cubin of the same major number
// and no higher minor one, which such a device runs, or else PTX. ErrDevice: the device is
// too old for both.
func For(major, minor int) ([]byte, error) {
	if err := Check(major, minor); err != nil {
		return nil, err
	}
	best := 0
	for _, a := range architectures {
		if a/10 == major && a%10 <= minor {
			best = a
		}
	}
	if best == 0 {
		return PTX()
	}
	return read(fmt.Sprintf("sm_%d.cubin.gz", best))
}

// Check is For's error, without reading anything.
func Check(major, minor int) error {
	if major < architectures[0]/10 {
		return fmt.Errorf("%w: its compute capability is %d.%d, and 8.0 is the least", ErrDevice, major, minor)
	}
	return nil
}

// PTX is the kernels as text, ended by no zero, for devices of compute capability 8.0 and up.
func PTX() ([]byte, error) { return read("compute_80.ptx.gz") }

// read unpacks an embedded file.
func read(name string) ([]byte, error) {
	packed, err := files.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("reading kernels: %w", err)
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("unpacking %s: %w", name, err)
	}
	image, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("unpacking %s: %w", name, err)
	}
	return image, nil
}
