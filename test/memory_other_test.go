//go:build !linux

package test

import (
	"os/exec"
	"testing"
)

// checkMemory knows the unit of a process's usage on Linux only.
func checkMemory(*testing.T, *exec.Cmd, int64) {}

// resident is not known.
func resident(*testing.T, *exec.Cmd) int64 { return 0 }
