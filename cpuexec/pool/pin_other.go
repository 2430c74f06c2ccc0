//go:build !linux

package pool

import "runtime"

// allowedCPUs lists the CPUs to pin threads on: none, this system is not asked.
func allowedCPUs() []int { return nil }

// pinCaller does nothing where allowedCPUs is empty.
func pinCaller(_, last int) int { return last }

// yield lets another thread run, by the Go scheduler.
func yield() { runtime.Gosched() }
