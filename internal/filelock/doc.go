// Package filelock keeps two processes from writing to one file.
//
// Ownership: a lock lives as long as the file is open, and ends with the process that
// has it, however that ends. On systems without such locks there is none.
//
// Concurrency: Lock may be called from any goroutine. It does not wait.
package filelock

import "errors"

// ErrLocked means that another process has the lock.
var ErrLocked = errors.New("another process has it")
