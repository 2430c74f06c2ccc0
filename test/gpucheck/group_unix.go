//go:build unix

package main

import (
	"os/exec"
	"syscall"
	"time"
)

// group lets the process be killed with all that it has started.
func group(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
}

// killGroup kills what a process has left behind that has ended: mostly nobody, which is an error here.
func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
