//go:build !linux

package cpuexec

// Resident is how many bytes of memory the process has in use, as far as Go's
// runtime knows.
func Resident() int64 { return managed() }
