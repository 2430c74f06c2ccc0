package executor

import (
	"slices"
	"sync"
)

// AdapterPlaces says which adapters are in an executor's places for them, which are numbered from 0. Its methods
// may be called from any goroutine, but Free, which belongs to Start's.
type AdapterPlaces struct {
	check *Checker

	mu    sync.Mutex // of what follows, and of the Checker's names with it
	names []string   // "": the place is free
	ready []bool     // batches may have its adapter; else that is on its way
}

// NewAdapterPlaces makes as many as info of the Checker says, all free.
func NewAdapterPlaces(check *Checker) *AdapterPlaces {
	n := check.info.MaxAdapters
	return &AdapterPlaces{check: check, names: make([]string, n), ready: make([]bool, n)}
}

// Find is where the adapter of a name is, which is loaded; -1 for none.
func (p *AdapterPlaces) Find(name string) int {
	if name == "" {
		return -1
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(p.names, name); i >= 0 && p.ready[i] {
		return i
	}
	return -1
}

// Take takes a place for an adapter of that name, which is on its way until Loaded or Failed. Errors are those
// of Checker.LoadAdapter.
func (p *AdapterPlaces) Take(name string) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.Index(p.names, "")
	if err := p.check.another(name, slices.Contains(p.names, name), i < 0); err != nil {
		return -1, err
	}
	p.names[i] = name
	return i, nil
}

// Loaded says that the adapter is in the place that Take gave: from now on batches may have it.
func (p *AdapterPlaces) Loaded(i int) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.check.LoadAdapter(p.names[i]); err != nil {
		return err
	}
	p.ready[i] = true
	return nil
}

// Failed gives back the place that Take gave, whose adapter does not come.
func (p *AdapterPlaces) Failed(i int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.names[i] = ""
}

// Free gives back the place of an adapter. Errors are those of Checker.UnloadAdapter, to which one on its way is
// not loaded.
func (p *AdapterPlaces) Free(name string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.check.UnloadAdapter(name); err != nil {
		return err
	}
	i := slices.Index(p.names, name)
	p.names[i], p.ready[i] = "", false
	return nil
}
