package gpuexec

import (
	"context"
	"slices"
	"sync"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/model"
)

// adapters are the places, in one piece of memory that is kept until Close.
type adapters struct {
	room   room
	mu     sync.Mutex // of what places have, and of the Checker's names with them
	places []*adapter
}

// open makes n places, in memory that is not taken yet.
func (l *adapters) open(r room, n int) {
	l.room, l.places = r, make([]*adapter, n)
	for i := range l.places {
		l.places[i] = &adapter{number: int32(i)}
	}
}

// find is the adapter of that name, which is loaded; nil for none.
func (l *adapters) find(name string) *adapter {
	if name == "" {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.IndexFunc(l.places, func(p *adapter) bool { return p.name == name })
	if i < 0 {
		return nil
	}
	return l.places[i]
}

// rename says what a place has now.
func (l *adapters) rename(p *adapter, name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p.name = name
}

// LoadAdapter implements executor.Adapters. It copies beside steps, into memory that New has taken,
// as Load does; one of them waits for the other. After an error of the device the executor is of no
// use, nor is the place.
func (e *Executor) LoadAdapter(name string, a *model.Adapter) error {
	if err := a.Check(e.config.Model, e.config.MaxAdapterRank); err != nil {
		return err
	}
	e.loading.Lock()
	defer e.loading.Unlock()
	return e.besides(func() error {
		p, err := e.adapterPlace(name)
		if err != nil {
			return err
		}
		ctx, cancel := e.until(context.Background())
		defer cancel()
		if err := e.sendAdapter(ctx, p, a); err != nil {
			return err
		}
		e.adapters.rename(p, name)
		return nil
	})
}

// adapterPlace takes one.
func (e *Executor) adapterPlace(name string) (*adapter, error) {
	l := &e.adapters
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := e.check.LoadAdapter(name); err != nil {
		return nil, err
	}
	i := slices.IndexFunc(l.places, func(p *adapter) bool { return !p.taken }) // as many as the Checker has names
	l.places[i].taken = true
	return l.places[i], nil
}

// UnloadAdapter implements executor.Adapters.
func (e *Executor) UnloadAdapter(name string) error {
	l := &e.adapters
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := e.check.UnloadAdapter(name); err != nil {
		return err
	}
	i := slices.IndexFunc(l.places, func(p *adapter) bool { return p.name == name })
	l.places[i].name, l.places[i].taken = "", false
	return nil
}

var _ executor.Adapters = (*Executor)(nil)
