package gpuexec

import (
	"errors"
	"fmt"
	"os"

	"github.com/cbactor/cbactor/cuda"
)

// Library is the variable of the environment that has the path of NVIDIA's driver, where it is
// not the one that the dynamic linker finds.
const Library = "CBACTOR_CUDA_LIBRARY"

// ErrLibrary means that Library names something that cannot be opened as a driver. Whoever has set it
// means to compute on a GPU.
var ErrLibrary = errors.New("gpuexec: " + Library)

// Driver opens the driver that Library names, else the one that the dynamic linker finds. Errors wrap
// cuda.ErrUnavailable, and ErrLibrary.
func Driver() (*cuda.Library, error) {
	path := os.Getenv(Library)
	lib, err := cuda.Open(path)
	if u := (*cuda.Unavailable)(nil); path != "" && errors.As(err, &u) && u.Err == nil {
		return nil, &libraryError{u}
	}
	return lib, err
}

// libraryError is of class ErrLibrary.
type libraryError struct{ cause *cuda.Unavailable }

func (e *libraryError) Error() string {
	if !cuda.Supported {
		return fmt.Sprintf("%s is set, and %s: unset it, or %s", Library, e.cause.Why, e.cause.Do)
	}
	return fmt.Sprintf("%s names something that is no driver: correct or unset it (%s)", Library, e.cause.Why)
}

// Unwrap gives the class and the cause.
func (e *libraryError) Unwrap() []error { return []error{ErrLibrary, e.cause} }
