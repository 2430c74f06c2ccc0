package weights

import "fmt"

// Put takes bytes of a tensor: see Update.Put.
type Put = func(name, dtype string, shape []int, offset int, data []byte) error

// Send gives tensors, whole and in order, to put, which is like Update.Put.
type Send func(put Put) error

// Guarded is s until stop is an error. A panic of s is an error, too, an ErrPanicked: what it
// leaves half sent must not compute.
func (s Send) Guarded(stop func() error) Send {
	return func(put Put) (err error) {
		defer func() {
			if cause := recover(); cause != nil {
				err = fmt.Errorf("%w: %v", ErrPanicked, cause)
			}
		}()
		return s(func(name, dtype string, shape []int, offset int, data []byte) error {
			if err := stop(); err != nil {
				return err
			}
			return put(name, dtype, shape, offset, data)
		})
	}
}
