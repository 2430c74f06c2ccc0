package engine

import (
	"errors"
	"fmt"
	"strings"

	"github.com/cbactor/cbactor/cuda"
	"github.com/cbactor/cbactor/gpuexec"
)

// reason says in short why no GPU computes.
func reason(err error) string {
	if u := (*cuda.Unavailable)(nil); errors.As(err, &u) {
		return "no NVIDIA " + u.Lacks + ": " + u.Why
	}
	if u := (*gpuexec.Unusable)(nil); errors.As(err, &u) {
		return u.Why
	}
	if not := (*notOnGPU)(nil); errors.As(err, &not) {
		return not.why
	}
	return strings.TrimPrefix(err.Error(), "gpuexec: ")
}

// notOnGPU is what is asked for and no GPU does. It is of class ErrConfig.
type notOnGPU struct {
	field string // that asks for it; "": none
	why   string // what it asks for, and why that is not to be had
	do    string // what to do about it, but for taking the CPU
	class error  // beside ErrConfig; nil: none
}

func (n *notOnGPU) Error() string {
	return fmt.Sprintf("%v: %s: %s, or take device cpu", ErrConfig, n.why, n.do)
}

// Unwrap gives the classes.
func (n *notOnGPU) Unwrap() []error { return []error{ErrConfig, n.class} }
