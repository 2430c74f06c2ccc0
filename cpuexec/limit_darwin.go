package cpuexec

import "golang.org/x/sys/unix"

// MemoryLimit is how many bytes the computer has. 0: not known.
func MemoryLimit() int64 {
	n, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return 0
	}
	return int64(n)
}
