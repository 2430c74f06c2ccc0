//go:build !nvml || !cgo || !linux

package nvmlinfo

import "fmt"

// Reader is what there is none of in this build: Open makes none, so that its methods, which
// callers are compiled against, are never called.
type Reader struct{}

// Open answers ErrUnavailable.
func Open() (*Reader, error) {
	return nil, fmt.Errorf("%w: this program was built without it: build it for Linux with cgo and -tags nvml", ErrUnavailable)
}

// Close does nothing.
func (*Reader) Close() error { return nil }

// GPUs finds none.
func (*Reader) GPUs() ([]GPU, error) { return nil, ErrUnavailable }
