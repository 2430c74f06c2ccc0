package emu

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// headers are where cuda.h of 13.0 may be: where CBACTOR_CUDA_INCLUDE says, else with the compiler
// that cuda/build.sh fetches.
func headers(t *testing.T) string {
	t.Helper()
	if dir := os.Getenv("CBACTOR_CUDA_INCLUDE"); dir != "" {
		return dir
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skip(err)
	}
	found, err := filepath.Glob(filepath.Join(cache, "cbactor", "nvcc-13.0.88", "lib", "python3*", "site-packages", "nvidia", "cu13", "include", "cuda.h"))
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		t.Skip("no cuda.h: make cuda fetches it, and CBACTOR_CUDA_INCLUDE may name its folder")
	}
	return filepath.Dir(found[0])
}

// The fake driver's functions have the signatures of NVIDIA's header: the compiler checks them
// against it.
func TestSignaturesAreNVIDIAs(t *testing.T) {
	if testing.Short() {
		t.Skip("compiling takes seconds")
	}
	include := headers(t)
	if _, err := exec.LookPath(compiler); err != nil {
		t.Skip(err)
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
