//go:build !linux && !darwin && !windows

package cpuexec

// MemoryLimit is how many bytes the process may use: not known here.
func MemoryLimit() int64 { return 0 }
