//go:build unix

package fuzztest

import (
	"syscall"
	"time"
)

// processorTime is what the process has had of processors, on all of its threads.
func processorTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err) // of a bad address alone
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
