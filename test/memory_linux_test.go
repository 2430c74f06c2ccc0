package test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// runWithin runs a process to its end, and fails when it has had more than limit bytes
// resident. What the kernel tells of an ended one is no less than its parent had when it began,
// so that it is looked at while it runs.
func runWithin(t *testing.T, cmd *exec.Cmd, limit int64) error {
	t.Helper()
	if commandRaced() {
		return cmd.Run() // it takes many times as much
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var most int64
	for {
		select {
		case err := <-ended:
			if most > limit {
				t.Errorf("the command took %d MiB of memory, at most %d are wanted", most>>20, limit>>20)
			}
			return err
		case <-time.After(time.Millisecond):
			most = max(most, peak(cmd.Process.Pid))
		}
	}
}

// peak is the most that a process has had resident so far, in bytes; 0: it has ended.
func peak(pid int) (bytes int64) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	if _, err := fmt.Sscan(rest, &bytes); err != nil {
		return 0
	}
	return bytes << 10
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
