package emu

import (
	"errors"
	"os"
	"syscall"
)

// lock waits until no other test has the file, in this process or another. Closing the
// file gives the lock back.
func lock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
		if err == nil {
			return f, nil
		}
		if err != syscall.EINTR {
			return nil, errors.Join(err, f.Close())
		}
	}
}
