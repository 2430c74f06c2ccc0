package engine

import (
	"context"

	"github.com/cbactor/cbactor/weights"
)

// borrow keeps the weights that serve for who reads them, until giveBack.
func (e *Engine) borrow(ctx context.Context) (*weights.Set, error) {
	if err := e.changeWeights(ctx); err != nil {
		return nil, err
	}
	defer e.others()
	if e.broken.Load() {
		return nil, errSendWeights
	}
	set, err := e.store.Use(e.store.Current().Epoch)
	if err == nil {
		e.borrowed++
	}
	return set, err
}

// giveBack ends what borrow began.
func (e *Engine) giveBack(set *weights.Set) {
	e.later(func() {
		e.borrowed--
		if store := e.store; store != nil { // Close gives it up
			e.log(store.Done(set.Epoch))
		}
	})
}
