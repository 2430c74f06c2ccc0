//go:build darwin || freebsd || linux

package hub

import "golang.org/x/sys/unix"

// freeSpace is how many bytes may be written on the disk of a folder; ok: it is known.
func freeSpace(dir string) (bytes uint64, ok bool) {
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil {
		return 0, false
	}
	return uint64(max(0, s.Bavail)) * uint64(s.Bsize), true
}
