//go:build unix

package cpuexec

import "golang.org/x/sys/unix"

func mapMemory(size int, huge bool) ([]byte, error) {
	mem, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err == nil && huge {
		adviseHuge(mem)
	}
	return mem, err
}

func unmapMemory(mem []byte) error { return unix.Munmap(mem) }
