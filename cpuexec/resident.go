package cpuexec

import "runtime"

// managed is the memory that Go's runtime has.
func managed() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys - m.HeapReleased)
}
