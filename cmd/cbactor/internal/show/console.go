package show

import (
	"io"
	"sync"
)

// Console is a stream of whole lines that can be led elsewhere for a while: above
// a live block instead of through it. It may be written from any goroutine.
type Console struct {
	mu   sync.Mutex
	w    io.Writer
	over io.Writer // nil: w
}

// NewConsole writes to w.
func NewConsole(w io.Writer) *Console { return &Console{w: w} }

// Write implements io.Writer.
func (c *Console) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over != nil {
		return c.over.Write(p)
	}
	return c.w.Write(p)
}

// lead leads what is written to w; nil leads it back.
func (c *Console) lead(w io.Writer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = w
}
