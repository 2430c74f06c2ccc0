package requests

import (
	"errors"
	"fmt"
	"os"

	"github.com/cbactor/cbactor/internal/filelock"
)

// OpenResults opens a file of results to be appended to, which it makes when there
// is none, and reads what is done. The file is locked until it is closed, where the
// system can: the error wraps ErrLocked when another process has it. A torn last
// line is cut off.
func OpenResults(path string) (_ *os.File, _ Done, err error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return nil, Done{}, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, file.Close())
		}
	}()
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, Done{}, err
	case !info.Mode().IsRegular():
		return nil, Done{}, fmt.Errorf("%s is no regular file", path)
	}
	if err := filelock.Lock(file); errors.Is(err, filelock.ErrLocked) {
		return nil, Done{}, fmt.Errorf("%s: %w", path, ErrLocked)
	} else if err != nil {
		return nil, Done{}, fmt.Errorf("%s: %w", path, err)
	}
	done, err := ReadDone(file, path)
	if err != nil {
		return nil, Done{}, err
	}
	if done.End == info.Size() {
		return file, done, nil
	}
	// By its path: on Windows a file that is appended to cannot be cut.
	return file, done, os.Truncate(path, done.End)
}
