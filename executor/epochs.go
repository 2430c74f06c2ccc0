package executor

import (
	"slices"
	"sync"
)

// epochs are those whose weights are loaded. Any goroutine may ask.
type epochs struct {
	mu     sync.Mutex
	loaded []uint32
}

// Load says that batches may name an epoch. It is refused when they may already.
func (c *Checker) Load(epoch uint32) error {
	c.epochs.mu.Lock()
	defer c.epochs.mu.Unlock()
	if slices.Contains(c.epochs.loaded, epoch) {
		return breach("epoch %d is loaded already", epoch)
	}
	c.epochs.loaded = append(c.epochs.loaded, epoch)
	return nil
}

// Drop says that no later batch may name an epoch.
func (c *Checker) Drop(epoch uint32) error {
	c.epochs.mu.Lock()
	defer c.epochs.mu.Unlock()
	i := slices.Index(c.epochs.loaded, epoch)
	if i < 0 {
		return breach("epoch %d is not loaded", epoch)
	}
	c.epochs.loaded = slices.Delete(c.epochs.loaded, i, i+1)
	return nil
}

// isLoaded refuses an epoch that is not.
func (c *Checker) isLoaded(epoch uint32) error {
	c.epochs.mu.Lock()
	defer c.epochs.mu.Unlock()
	if !slices.Contains(c.epochs.loaded, epoch) {
		return breach("epoch %d, loaded are %v", epoch, c.epochs.loaded)
	}
	return nil
}
