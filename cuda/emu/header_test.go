package emu

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The fake driver's functions have the signatures of NVIDIA's header: the compiler checks them
// against it, where CBACTOR_CUDA_INCLUDE names the folder of cuda.h, 13.0.
func TestSignaturesAreNVIDIAs(t *testing.T) {
	include := os.Getenv("CBACTOR_CUDA_INCLUDE")
	if include == "" {
		t.Skip("CBACTOR_CUDA_INCLUDE does not name the folder of cuda.h")
	}
	units, err := filepath.Glob("driver/*.cc")
	if err != nil || len(units) == 0 {
		t.Fatalf("%d sources, %v", len(units), err)
	}
	args := append([]string{"-std=c++17", "-fsyntax-only", "-DFAKE_CUDA_HEADER", "-I" + include}, units...)
	if out, err := exec.Command(compiler, args...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
