package engine

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"unicode"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/model"
)

// Bounds of an adapter's name, and of how many an executor has had: their names are
// remembered.
const (
	maxAdapterName  = 256
	maxAdapterNames = 1 << 20
)

// adapters are those of a session's executor.
//
// Concurrency: mu. Requests are submitted under it, shared, and unloading is begun under
// it, alone: so none that names an adapter is behind its unloading.
type adapters struct {
	ex executor.Adapters // nil: it has none

	mu    sync.RWMutex
	names map[string]bool // all that were ever loaded
	by    map[string]*loaded
}

// loaded is an adapter that has a place.
type loaded struct {
	Adapter
	ready bool          // requests may name it: it is neither on its way in nor out
	gone  chan struct{} // closed when it has left its place
	err   error         // why it has not
}

func newAdapters(ex executor.Executor) *adapters {
	a := &adapters{names: map[string]bool{}, by: map[string]*loaded{}}
	if ex.Info().MaxAdapters > 0 {
		a.ex, _ = ex.(executor.Adapters)
	}
	return a
}

// most is how many may be loaded.
func (a *adapters) most() int {
	if a.ex == nil {
		return 0
	}
	return a.ex.Info().MaxAdapters
}

// enter takes a place for an adapter that is to be loaded.
func (a *adapters) enter(name string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case name == "" || len(name) > maxAdapterName || !printable(name):
		return fmt.Errorf("%w: %.40q, must be of 1 to %d bytes that can be printed", ErrAdapterName, name, maxAdapterName)
	case a.names[name] || a.by[name] != nil:
		return fmt.Errorf("%w: %q is or was an adapter's: take another one, such as with a number behind it", ErrAdapterName, name)
	case len(a.by) >= a.most():
		return fmt.Errorf("%w: max_adapters is %d and as many are loaded: unload one, or allow more", ErrAdapters, a.most())
	case len(a.names) >= maxAdapterNames:
		return fmt.Errorf("%w: %d were loaded: stop the engine without keeping, and start it again", ErrAdapters, maxAdapterNames)
	}
	a.by[name] = &loaded{gone: make(chan struct{})}
	return nil
}

// printable tells that a text has no control characters and is UTF-8.
func printable(name string) bool {
	for _, r := range name {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}

// entered says how loading went.
func (a *adapters) entered(name string, value *model.Adapter, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err != nil {
		delete(a.by, name)
		return
	}
	a.names[name] = true
	l := a.by[name]
	l.Adapter, l.ready = Adapter{Name: name}, true
	for _, p := range value.Parts {
		l.Rank = max(l.Rank, p.Rank)
		l.Modules = append(l.Modules, p.Module)
	}
	slices.Sort(l.Modules)
}

// use calls submit for a request that names an adapter, or none.
func (a *adapters) use(name string, submit func()) error {
	a.mu.RLock()
	defer a.mu.RUnlock()
	if l := a.by[name]; name != "" && (l == nil || !l.ready) {
		return fmt.Errorf("%w: %.80q", ErrUnknownAdapter, name)
	}
	submit()
	return nil
}

// leave refuses new users and calls begin.
func (a *adapters) leave(name string, begin func()) (*loaded, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	l := a.by[name]
	if l == nil || !l.ready {
		return nil, fmt.Errorf("%w: %.80q", ErrUnknownAdapter, name)
	}
	l.ready = false
	begin()
	return l, nil
}

// left says how unloading went.
func (a *adapters) left(name string, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	l := a.by[name]
	l.err = err
	close(l.gone)
	if err == nil {
		delete(a.by, name)
	}
}

// list is those that requests may name.
func (a *adapters) list() []Adapter {
	a.mu.RLock()
	defer a.mu.RUnlock()
	var list []Adapter
	for _, name := range slices.Sorted(maps.Keys(a.by)) {
		if l := a.by[name]; l.ready {
			list = append(list, Adapter{Name: l.Name, Rank: l.Rank, Modules: slices.Clone(l.Modules)})
		}
	}
	return list
}
