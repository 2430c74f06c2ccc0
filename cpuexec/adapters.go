package cpuexec

import (
	"errors"
	"time"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/model"
)

// adapters are the places.
type adapters struct {
	*executor.AdapterPlaces
	list []*adapter
}

// newAdapters cuts the places out of a.
func newAdapters(a *area, c *Config, d *dims, check *executor.Checker) *adapters {
	l := &adapters{executor.NewAdapterPlaces(check), make([]*adapter, c.MaxAdapters)}
	for i := range l.list {
		l.list[i] = &adapter{number: i, area: a.part(adapterBytes(c, d))}
	}
	return l
}

// find is the adapter of that name, which is loaded; nil for none.
func (l *adapters) find(name string) *adapter {
	if i := l.Find(name); i >= 0 {
		return l.list[i]
	}
	return nil
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
	return e.adapters.Loaded(p.number)
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
	i, err := e.adapters.Take(name)
	if err != nil {
		return nil, err
	}
	e.packing++
	return e.adapters.list[i], nil
}

// UnloadAdapter implements executor.Adapters.
func (e *Executor) UnloadAdapter(name string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return executor.ErrClosed
	}
	return e.adapters.Free(name)
}
