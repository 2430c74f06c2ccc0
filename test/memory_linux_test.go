package test

import (
	"os/exec"
	"syscall"
	"testing"
)

// checkMemory fails when an ended process has had more than limit bytes resident.
func checkMemory(t *testing.T, cmd *exec.Cmd, limit int64) {
	t.Helper()
	if len(buildFlags) > 0 {
		return // the race detector takes many times as much
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		t.Fatal("no usage of the process is known")
	}
	if used := usage.Maxrss << 10; used > limit {
		t.Errorf("the command took %d MiB of memory, at most %d are wanted", used>>20, limit>>20)
	}
}
