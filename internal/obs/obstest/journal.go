// Package obstest keeps what is logged, for tests.
//
// Ownership and concurrency: a Journal may be written to and read by any goroutine. It has
// to be: goroutines of the actor library log a little longer than an engine is open.
package obstest

import (
	"bytes"
	"sync"
)

// Journal is all that was written to it.
type Journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (j *Journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

// String is what was written so far.
func (j *Journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}
