package cubin

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The pinned compiler, which is fetched if need be, makes the very files that are here.
func TestBuiltAgain(t *testing.T) {
	if os.Getenv("CBACTOR_FULL") != "1" {
		t.Skip("compiling takes a minute of two processors: CBACTOR_FULL=1 runs it, as make test-gpu-emu does")
	}
	dir := t.TempDir()
	if out, err := exec.Command("../build.sh", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	made, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(made) == 0 {
		t.Fatalf("%d files are made, %v", len(made), err)
	}
	for _, path := range made {
		name := filepath.Base(path)
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if want, err := os.ReadFile(name); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what the compiler makes of the sources (%v): run make cuda", name, err)
		}
	}
}
