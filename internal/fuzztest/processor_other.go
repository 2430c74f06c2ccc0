//go:build !unix

package fuzztest

import "time"

var start = time.Now()

// processorTime is the clock's where the system is not asked for that of processors.
func processorTime() time.Duration { return time.Since(start) }
