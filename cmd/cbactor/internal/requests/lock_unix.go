//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package requests

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lock locks a file for this process until it is closed.
func lock(file *os.File) error {
	err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	switch {
	case errors.Is(err, unix.EWOULDBLOCK):
		return ErrLocked
	case errors.Is(err, errors.ErrUnsupported):
		return nil // a file system without locks
	}
	return err
}
