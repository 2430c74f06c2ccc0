package emu

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The fake cublasLt's functions have the signatures of NVIDIA's header: the compiler checks them
// against it, where CBACTOR_CUBLAS_INCLUDE names the folders of cublasLt.h and of the headers which it
// includes (those of CUDA's runtime and CCCL), separated as in PATH.
func TestCublasLtSignaturesAreNVIDIAs(t *testing.T) {
	folders := filepath.SplitList(os.Getenv("CBACTOR_CUBLAS_INCLUDE"))
	if len(folders) == 0 {
		t.Skip("CBACTOR_CUBLAS_INCLUDE does not name the folders of cublasLt.h and what it includes")
	}
	units, err := filepath.Glob("cublaslt/*.cc")
	if err != nil || len(units) == 0 {
		t.Fatalf("%d sources, %v", len(units), err)
	}
	args := append([]string{"-std=c++17", "-fsyntax-only", "-w", "-DFAKE_CUBLASLT_HEADER"}, units...)
	for _, folder := range folders {
		args = append(args, "-I"+folder)
	}
	if out, err := exec.Command(compiler, args...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
