package executor

import (
	"slices"
	"sync"
)

// epochs are those whose weights are loaded. Any goroutine may ask.
type epochs struct {
	mu     sync.Mutex
	loaded []uint32
	last   []uint64 // by place in loaded, the last step that names it; 0: none yet
}

// Load says that batches may name an epoch. It is refused when they may already.
func (c *Checker) Load(epoch uint32) error {
	c.epochs.mu.Lock()
	defer c.epochs.mu.Unlock()
	if slices.Contains(c.epochs.loaded, epoch) {
		return breach("epoch %d is loaded already", epoch)
	}
	c.epochs.loaded, c.epochs.last = append(c.epochs.loaded, epoch), append(c.epochs.last, 0)
	return nil
}

// Drop says that no later batch may name an epoch. It is refused while a step that
// names it is unfinished.
func (c *Checker) Drop(epoch uint32) error {
	c.epochs.mu.Lock()
	defer c.epochs.mu.Unlock()
	i := slices.Index(c.epochs.loaded, epoch)
	if i < 0 {
		return breach("epoch %d is not loaded", epoch)
	}
	if last := c.epochs.last[i]; last > c.done.Load() {
		return breach("epoch %d is named by step %d, which is not finished", epoch, last)
	}
	c.epochs.loaded, c.epochs.last = slices.Delete(c.epochs.loaded, i, i+1), slices.Delete(c.epochs.last, i, i+1)
	return nil
}

// name notes that a step names an epoch, and refuses one that is not loaded.
func (c *Checker) name(epoch uint32, step uint64) error {
	c.epochs.mu.Lock()
	defer c.epochs.mu.Unlock()
	i := slices.Index(c.epochs.loaded, epoch)
	if i < 0 {
		return breach("epoch %d, loaded are %v", epoch, c.epochs.loaded)
	}
	c.epochs.last[i] = step
	return nil
}
