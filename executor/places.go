package executor

import (
	"fmt"
	"slices"

	"github.com/cbactor/cbactor/weights"
)

// Place is where a Loader has a weight set ready to compute with: in memory of type M, as a D.
// Sets of several epochs are there when they are the same tensors.
type Place[M, D any] struct {
	Memory M            // stays with the place, whatever lies there
	Set    *weights.Set // nil: it is free
	Ready  *D           // nil: it is free, or weights sleep

	epochs []uint32
}

// Places are all that a Loader has. Who owns them guards them: methods take no lock.
type Places[M, D any] []Place[M, D]

// For is where a set lies already, or can: then it is free. The error wraps ErrFull.
func (l Places[M, D]) For(set *weights.Set) (free *Place[M, D], err error) {
	for i := range l {
		switch p := &l[i]; {
		case p.Set == nil:
			free = p
		case set.Same(p.Set):
			return p, nil
		}
	}
	if free == nil {
		return nil, fmt.Errorf("%w: there are %d (weight_sets), drop a set before", ErrFull, len(l))
	}
	return free, nil
}

// Hold says that a set lies in a place that For gave, beside what lies there already.
func (p *Place[M, D]) Hold(set *weights.Set, ready *D) {
	p.Set, p.Ready, p.epochs = set, ready, append(p.epochs, set.Epoch)
}

// Drop says that no set of an epoch, which is loaded, lies anywhere any more. The place of the
// last one is free then.
func (l Places[M, D]) Drop(epoch uint32) {
	p := l.of(epoch)
	if p.epochs = slices.DeleteFunc(p.epochs, func(e uint32) bool { return e == epoch }); len(p.epochs) == 0 {
		*p = Place[M, D]{Memory: p.Memory}
	}
}

// Of is what to compute with in an epoch, which is loaded.
func (l Places[M, D]) Of(epoch uint32) *D { return l.of(epoch).Ready }

func (l Places[M, D]) of(epoch uint32) *Place[M, D] {
	i := slices.IndexFunc(l, func(p Place[M, D]) bool { return slices.Contains(p.epochs, epoch) })
	return &l[i]
}
