package test

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// checkMemory fails when an ended process has had more than limit bytes resident.
func checkMemory(t *testing.T, cmd *exec.Cmd, limit int64) {
	t.Helper()
	if underRace {
		return // it takes many times as much; of a process, that of its parent when it began counts
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		t.Fatal("no usage of the process is known")
	}
	if used := usage.Maxrss << 10; used > limit {
		t.Errorf("the command took %d MiB of memory, at most %d are wanted", used>>20, limit>>20)
	}
}

// resident is how much memory of a process is resident, in bytes; 0: it is not of interest,
// as the race detector takes many times as much.
func resident(t *testing.T, cmd *exec.Cmd) int64 {
	t.Helper()
	if commandRaced() {
		return 0
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	var size, pages int64
	if _, err := fmt.Sscan(string(text), &size, &pages); err != nil {
		t.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}
