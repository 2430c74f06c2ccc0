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
	names []string   // "": no adapter that may be used
	taken []bool
}

// NewAdapterPlaces makes as many as info of the Checker says, all free.
func NewAdapterPlaces(check *Checker) *AdapterPlaces {
	n := check.info.MaxAdapters
	return &AdapterPlaces{check: check, names: make([]string, n), taken: make([]bool, n)}
}

// Find is where the adapter of a name is, which is loaded; -1 for none.
func (p *AdapterPlaces) Find(name string) int {
	if name == "" {
		return -1
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Index(p.names, name)
}

// Take takes a place for an adapter of that name. Errors are those of Checker.LoadAdapter.
func (p *AdapterPlaces) Take(name string) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.check.LoadAdapter(name); err != nil {
		return -1, err
	}
	i := slices.Index(p.taken, false) // as many as the Checker has names
	p.taken[i] = true
	return i, nil
}

// Loaded says that the adapter is in its place.
func (p *AdapterPlaces) Loaded(i int, name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.names[i] = name
}

// Free gives back the place of an adapter. Errors are those of Checker.UnloadAdapter.
func (p *AdapterPlaces) Free(name string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.check.UnloadAdapter(name); err != nil {
		return err
	}
	i := slices.Index(p.names, name)
	p.names[i], p.taken[i] = "", false
	return nil
}
