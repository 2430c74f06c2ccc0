package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/cbactor/cbactor/actors"
	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/model"
)

// Adapter is a LoRA adapter that is loaded.
type Adapter struct {
	Name    string
	Rank    int      // the largest of its modules
	Modules []string // the linear layers that it adds to
}

// LoadAdapter loads a LoRA adapter from a folder as PEFT writes it (os.DirFS of a path, or
// any other file system), while the engine generates. Requests may name it when this has
// returned. A name is used once in the life of an executor: what was cached or sampled
// under it never is another's. The adapter belongs to no version of the weights: it stays
// when they change. It is gone with its executor, so by a Stop without Keep.
//
// ctx is looked at before the files are read, and before they are packed. Errors are
// ErrAdapterName, ErrAdapter with what is wrong with the files, ErrAdapters, ErrClosed or
// ErrNotRunning; nothing is loaded then, and the name is free.
func (e *Engine) LoadAdapter(ctx context.Context, name string, folder fs.FS) error {
	if e.closed.Load() {
		return ErrClosed
	}
	s := e.session.Load()
	if err := s.adapters.enter(name); err != nil {
		return err
	}
	a, err := e.readAdapter(ctx, folder)
	if err == nil {
		err = s.adapters.ex.LoadAdapter(name, a)
	}
	if errors.Is(err, executor.ErrClosed) {
		err = e.ended(s)
	}
	s.adapters.entered(name, a, err)
	if err != nil {
		return fmt.Errorf("adapter %q: %w", name, err)
	}
	return nil
}

func (e *Engine) readAdapter(ctx context.Context, folder fs.FS) (*model.Adapter, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if e.model == nil {
		return nil, fmt.Errorf("%w: what it adds to is not known: give Config.Checkpoint beside Config.Executor", ErrAdapter)
	}
	a, err := checkpoint.ReadAdapter(folder, e.model, e.info.AdapterRank)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrAdapter, err)
	}
	return a, ctx.Err()
}

// UnloadAdapter refuses the adapter to new requests at once, waits until those that have
// it have ended, and frees its place, which a pause may put off until its end. When ctx
// ends first, that goes on by itself. A name that no request may give is
// ErrUnknownAdapter, which does no harm.
func (e *Engine) UnloadAdapter(ctx context.Context, name string) error {
	if e.closed.Load() {
		return ErrClosed
	}
	s := e.session.Load()
	l, err := s.adapters.leave(name, func() {
		s.system.UnloadAdapter(&actors.UnloadAdapter{Name: name, Done: func(err error) { s.adapters.left(name, err) }})
	})
	if err != nil {
		return err
	}
	select {
	case <-l.gone:
		return l.err
	case <-s.system.Done():
		return nil // with all others
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Adapters are those that requests may name, in the order of their names.
func (e *Engine) Adapters() []Adapter {
	s := e.session.Load()
	select {
	case <-s.system.Done():
		return nil // they are gone with their executor
	default:
		return s.adapters.list()
	}
}
