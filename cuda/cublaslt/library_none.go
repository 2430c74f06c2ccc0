//go:build !cgo || !linux

package cublaslt

import (
	"errors"

	"github.com/cbactor/cbactor/cuda"
)

var errBuilt = errors.New("this program was built without cgo or not for Linux")

// functions is what there is none of in this build: openLibrary makes none, so that its methods,
// which the rest of the package is compiled against, are never called.
type functions struct{}

func openLibrary(string) (*functions, error) { return nil, errBuilt }

type (
	native struct{}
	plan   struct{}
)

func (*functions) version() int                            { return 0 }
func (*functions) open() (native, error)                   { return native{}, errBuilt }
func (*functions) close(native) error                      { return errBuilt }
func (*functions) plan(native, int, int, int, *plan) error { return errBuilt }
func (*functions) forget(*plan) error                      { return errBuilt }
func (*functions) run(native, *plan, cuda.Pointer, cuda.Pointer, cuda.Pointer, cuda.Pointer, uintptr) error {
	return errBuilt
}
