package gpuexec

import (
	"context"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/model"
)

// adapters are the places, in one piece of memory that is kept until Close.
type adapters struct {
	*executor.AdapterPlaces
	list []*adapter
	room room
}

// open makes n places, in memory that is not taken yet.
func (l *adapters) open(n int, check *executor.Checker, r room) {
	l.AdapterPlaces, l.list, l.room = executor.NewAdapterPlaces(check), make([]*adapter, n), r
	for i := range l.list {
		l.list[i] = &adapter{number: int32(i)}
	}
}

// find is the adapter of that name, which is loaded; nil for none.
func (l *adapters) find(name string) *adapter {
	if i := l.Find(name); i >= 0 {
		return l.list[i]
	}
	return nil
}

// LoadAdapter implements executor.Adapters. It copies beside steps, into memory that New has taken,
// as Load does; one of them waits for the other.
func (e *Executor) LoadAdapter(name string, a *model.Adapter) error {
	if err := a.Check(e.config.Model, e.config.MaxAdapterRank); err != nil {
		return err
	}
	e.loading.Lock()
	defer e.loading.Unlock()
	return e.besides(func() error {
		i, err := e.adapters.Take(name)
		if err != nil {
			return err
		}
		ctx, cancel := e.until(context.Background())
		defer cancel()
		if err := e.sendAdapter(ctx, e.adapters.list[i], a); err != nil {
			e.adapters.Failed(i)
			return err
		}
		return e.adapters.Loaded(i)
	})
}

// UnloadAdapter implements executor.Adapters.
func (e *Executor) UnloadAdapter(name string) error { return e.adapters.Free(name) }

var _ executor.Adapters = (*Executor)(nil)
