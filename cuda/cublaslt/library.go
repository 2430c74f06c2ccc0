package cublaslt

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// PathVariable is the environment's variable that names the library, or its folder, where Open is
// given no path.
const PathVariable = "CBACTOR_CUBLASLT"

// files are the names of the library, the newest first. Both have the functions that are called,
// with the same meaning.
var files = []string{"libcublasLt.so.13", "libcublasLt.so.12"}

// names are the functions, in the order of the table that they are called by.
var names = [...]string{
	"cublasLtCreate", "cublasLtDestroy", "cublasLtGetVersion",
	"cublasLtMatmulDescCreate", "cublasLtMatmulDescDestroy", "cublasLtMatmulDescSetAttribute",
	"cublasLtMatrixLayoutCreate", "cublasLtMatrixLayoutDestroy",
	"cublasLtMatmulPreferenceCreate", "cublasLtMatmulPreferenceDestroy", "cublasLtMatmulPreferenceSetAttribute",
	"cublasLtMatmulAlgoGetHeuristic", "cublasLtMatmul",
}

// Library is the library, opened.
type Library struct {
	functions *functions
	Path      string // as it was found
	Version   int    // 10000 times its first number and 100 times its second: 13.1 is 130100
}

// Open opens the library. path is the library's, or that of a folder which has it, as a Python
// package does in nvidia/cu13/lib; "": what PathVariable says, else where the dynamic linker looks.
// Errors wrap ErrUnavailable.
func Open(path string) (*Library, error) {
	if path == "" {
		path = os.Getenv(PathVariable)
	}
	var errs []error
	for _, candidate := range candidates(path) {
		f, err := openLibrary(candidate)
		if err == nil {
			return &Library{functions: f, Path: candidate, Version: f.version()}, nil
		}
		errs = append(errs, err)
	}
	return nil, fmt.Errorf("%w: %w: install NVIDIA's cuBLAS (pip install nvidia-cublas), or name its folder in %s", ErrUnavailable, oneLine{errs}, PathVariable)
}

// candidates are the files that a path means.
func candidates(path string) []string {
	if path == "" {
		return files
	}
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return []string{path}
	}
	in := make([]string, len(files))
	for i, name := range files {
		in[i] = filepath.Join(path, name)
	}
	return in
}

// oneLine tells several errors in a line.
type oneLine struct{ errs []error }

func (o oneLine) Error() string {
	text := ""
	for i, err := range o.errs {
		if i > 0 {
			text += "; "
		}
		text += err.Error()
	}
	return text
}

func (o oneLine) Unwrap() []error { return o.errs }

var errNoFunction = errors.New("it has not all functions of cublasLt 12")
