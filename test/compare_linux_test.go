package test

import (
	"os"
	"os/exec"
	"testing"
)

// The comparison with peers, on engines that only pretend: the peers themselves are no
// part of the tests.
func TestCompare(t *testing.T) {
	t.Parallel()
	interpreter, err := exec.LookPath("python3")
	if err != nil {
		if os.Getenv("CBACTOR_REQUIRE_ASSETS") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	cmd := exec.CommandContext(t.Context(), interpreter, "-B", "-W", "error", "-m", "unittest", "discover", "-s", "../bench/compare")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
