package cublaslt

import (
	"errors"
	"fmt"
)

var (
	// ErrUnavailable means that there is no library to call; the error that wraps it says what is
	// missing and what to do.
	ErrUnavailable = errors.New("cublaslt: no library")
	// ErrNoAlgorithm means that the library has none for a product of these sizes.
	ErrNoAlgorithm = errors.New("cublaslt: no algorithm")
)

// statuses are the results by their names (cublasStatus_t of the library's reference).
var statuses = map[int]string{
	1: "CUBLAS_STATUS_NOT_INITIALIZED", 3: "CUBLAS_STATUS_ALLOC_FAILED", 7: "CUBLAS_STATUS_INVALID_VALUE",
	8: "CUBLAS_STATUS_ARCH_MISMATCH", 11: "CUBLAS_STATUS_MAPPING_ERROR", 13: "CUBLAS_STATUS_EXECUTION_FAILED",
	14: "CUBLAS_STATUS_INTERNAL_ERROR", notSupported: "CUBLAS_STATUS_NOT_SUPPORTED", 16: "CUBLAS_STATUS_LICENSE_ERROR",
}

const notSupported = 15

// Error is a call that the library refused.
type Error struct {
	Call   string // as the reference has it, such as cublasLtMatmul
	Status int    // cublasStatus_t
}

func (e *Error) Error() string {
	name := statuses[e.Status]
	if name == "" {
		name = "a status without a name"
	}
	return fmt.Sprintf("cublaslt: %s: %s (%d)", e.Call, name, e.Status)
}
