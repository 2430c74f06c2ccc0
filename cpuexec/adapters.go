package cpuexec

import (
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/model"
)

// adapters are the places. Whoever loads or unloads holds the executor's lock; mu
// keeps the names from the step that looks for one.
type adapters struct {
	mu     sync.Mutex
	places []*adapter
}

// newAdapters cuts the places out of a.
func newAdapters(a *area, c *Config, d *dims) *adapters {
	list := &adapters{places: make([]*adapter, c.MaxAdapters)}
	for i := range list.places {
		list.places[i] = &adapter{number: i, area: a.part(adapterBytes(c, d))}
	}
	return list
}

// find is the adapter of that name, which is loaded; nil for none.
func (l *adapters) find(name string) *adapter {
	if name == "" {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.places {
		if p.name == name {
			return p
		}
	}
	return nil
}

// rename says what a place has now.
func (l *adapters) rename(p *adapter, name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p.name = name
}

// LoadAdapter implements executor.Adapters. It packs on the caller's goroutine, into
// memory that New has taken. Between two layers it rests for as long as one took while
// there are steps, whose threads want the processor.
func (e *Executor) LoadAdapter(name string, a *model.Adapter) error {
	if err := a.Check(e.config.Model, e.config.MaxAdapterRank); err != nil {
		return err
	}
	p, err := e.place(name)
	if err != nil {
		return err
	}
	d := dimsOf(e.config.Model)
	began := time.Now()
	p.fill(a, e.config.Model, &d, func() {
		if worked := time.Since(began); e.busy() {
			time.Sleep(worked)
		}
		began = time.Now()
	})

	e.mu.Lock()
	defer e.mu.Unlock()
	e.packing--
	if e.closed {
		return errors.Join(executor.ErrClosed, e.release())
	}
	e.adapters.rename(p, name)
	return nil
}

// busy tells that a step runs, or waits to.
func (e *Executor) busy() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.running || len(e.queue) > 0
}

// place takes one. The executor frees no memory until it is filled.
func (e *Executor) place(name string) (*adapter, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, executor.ErrClosed
	}
	if err := e.check.LoadAdapter(name); err != nil {
		return nil, err
	}
	e.packing++
	i := slices.IndexFunc(e.adapters.places, func(p *adapter) bool { return !p.taken }) // as many as the Checker has names
	p := e.adapters.places[i]
	p.taken = true
	return p, nil
}

// UnloadAdapter implements executor.Adapters.
func (e *Executor) UnloadAdapter(name string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.check.UnloadAdapter(name); err != nil {
		return err
	}
	p := e.adapters.find(name)
	e.adapters.rename(p, "")
	p.taken = false
	return nil
}
