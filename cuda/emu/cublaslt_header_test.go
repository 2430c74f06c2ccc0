package emu

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The fake cublasLt's functions have the signatures of NVIDIA's header: the compiler checks them
// against it, where CBACTOR_CUBLAS_INCLUDE names the folder of cublasLt.h and CBACTOR_CUDA_INCLUDE
// that of the headers which it includes.
func TestCublasLtSignaturesAreNVIDIAs(t *testing.T) {
	cublas, cuda := os.Getenv("CBACTOR_CUBLAS_INCLUDE"), os.Getenv("CBACTOR_CUDA_INCLUDE")
	if cublas == "" || cuda == "" {
		t.Skip("CBACTOR_CUBLAS_INCLUDE and CBACTOR_CUDA_INCLUDE do not name the folders of cublasLt.h and cuda.h")
	}
	units, err := filepath.Glob("cublaslt/*.cc")
	if err != nil || len(units) == 0 {
		t.Fatalf("%d sources, %v", len(units), err)
	}
	args := append([]string{"-std=c++17", "-fsyntax-only", "-w", "-DFAKE_CUBLASLT_HEADER", "-I" + cublas, "-I" + cuda}, units...)
	if out, err := exec.Command(compiler, args...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
