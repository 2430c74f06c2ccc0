package executor

import (
	"fmt"
	"sync"
)

// loaded are the names of the adapters that batches may have.
type loaded struct {
	mu    sync.Mutex
	names map[string]bool
}

func (l *loaded) has(name string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.names[name]
}

// LoadAdapter takes a place for an adapter, which batches may have from now on. It may be called from any
// goroutine.
func (c *Checker) LoadAdapter(name string) error {
	c.adapters.mu.Lock()
	defer c.adapters.mu.Unlock()
	if err := c.another(name, c.adapters.names[name], len(c.adapters.names) >= c.info.MaxAdapters); err != nil {
		return err
	}
	c.adapters.names[name] = true
	return nil
}

// another refuses an adapter whose name is used, or for which there is no place.
func (c *Checker) another(name string, used, full bool) error {
	switch {
	case name == "" || used:
		return breach("adapter %q has no name, or one that is in use", name)
	case full:
		return fmt.Errorf("%w: %d; unload one, or allow more", ErrAdapters, c.info.MaxAdapters)
	}
	return nil
}

// UnloadAdapter gives a place back, or refuses while a slot or a step still has the
// adapter. It belongs to Start's goroutine.
func (c *Checker) UnloadAdapter(name string) error {
	for i := range c.slots {
		if s := &c.slots[i]; s.adapter == name && (s.open || s.last > c.done.Load()) {
			return breach("slot %d has adapter %q, retire it and finish step %d before", i, name, s.last)
		}
	}
	c.adapters.mu.Lock()
	defer c.adapters.mu.Unlock()
	if !c.adapters.names[name] {
		return breach("adapter %q is not loaded", name)
	}
	delete(c.adapters.names, name)
	return nil
}

// adapter checks the one that a slot is admitted with.
func (c *Checker) adapter(a *Admit) error {
	switch {
	case a.Adapter == "":
		return nil
	case c.info.MaxAdapters == 0:
		return fmt.Errorf("%w: slot %d asks for adapter %q", ErrUnsupported, a.Slot, a.Adapter)
	case !c.adapters.has(a.Adapter):
		return breach("slot %d asks for adapter %q, which is not loaded", a.Slot, a.Adapter)
	}
	return nil
}
