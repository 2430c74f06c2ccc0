package executor

import (
	"context"
	"slices"

	"github.com/cbactor/cbactor/weights"
)

// Load implements Loader. Of a set Echo needs no more than its epoch, which
// takes no time that ctx could bound.
func (e *Echo) Load(_ context.Context, set *weights.Set) error {
	e.loading.Lock()
	defer e.loading.Unlock()
	if err := e.alive(); err != nil {
		return err
	}
	place := e.placeOf(set)
	if place < 0 {
		return ErrFull
	}
	if err := e.check.Load(set.Epoch); err != nil {
		return err
	}
	e.sets[place] = append(e.sets[place], set)
	return nil
}

// placeOf is where a set is or can be loaded, -1: nowhere.
func (e *Echo) placeOf(set *weights.Set) int {
	free := -1
	for i, sets := range e.sets {
		switch {
		case len(sets) == 0:
			free = i
		case set.Same(sets[0]):
			return i
		}
	}
	return free
}

// Drop implements Loader.
func (e *Echo) Drop(epoch uint32) error {
	e.loading.Lock()
	defer e.loading.Unlock()
	if err := e.alive(); err != nil {
		return err
	}
	if err := e.check.Drop(epoch); err != nil {
		return err
	}
	for i := range e.sets {
		e.sets[i] = slices.DeleteFunc(e.sets[i], func(s *weights.Set) bool { return s.Epoch == epoch })
	}
	return nil
}

// EchoNext is what an Echo of that vocabulary and those windows gives greedily behind
// ids, of which the KV slot of each was written in the weight epoch beside it.
func EchoNext(ids []int32, epochs []uint32, vocab int, windows ...int) int32 {
	if len(windows) == 0 {
		windows = []int{0}
	}
	sum := uint64(0)
	for g, w := range windows {
		for i := windowStart(len(ids)-1, w); i < len(ids); i++ {
			sum = (sum + echoTerm(ids[i], i, epochs[i], g, uint64(vocab))) % uint64(vocab)
		}
	}
	return int32(sum)
}
