package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/cbactor/cbactor/actors"
	"github.com/cbactor/cbactor/sampling"
)

// Hold is a holder's share of a pause. Its methods may be called from any goroutine.
type Hold struct {
	engine *Engine
	held   *actors.Hold

	mu      sync.Mutex
	weights *HeldWeights // nil: nobody asked for them
}

// Release leaves the pause: if nobody else holds it, generation goes on. If anything was
// written to Weights it is committed before, as an update of that version with the policy
// KVKeep; an error of that leaves the weights as they were before, and what was written
// is lost. So it is if the hold had ended before, which is an ErrHoldLost. Once it was
// released, Release does nothing.
func (h *Hold) Release(version string) error {
	committed, err := h.commit(version)
	if err != nil {
		err = fmt.Errorf("release: %w", err)
	}
	left := h.held.Release()
	if committed { // if the hold has ended meanwhile, the weights are whole nevertheless
		return nil
	}
	return cmp.Or(err, left)
}

// lost says why the pause is not held any more; nil: it is.
func (h *Hold) lost() error {
	select {
	case <-h.held.Done():
		return cmp.Or(h.held.Err(), ErrHoldLost)
	default:
		return nil
	}
}

// Renew lets the lease begin again. The error is an ErrHoldLost, or says that the
// engine has ended.
func (h *Hold) Renew() error { return h.held.Renew() }

// Done is closed when the pause is not held any more: see Err.
func (h *Hold) Done() <-chan struct{} { return h.held.Done() }

// Err is nil while the pause is held, and after Release; else it is an ErrHoldLost
// that says how it ended.
func (h *Hold) Err() error { return h.held.Err() }

// holding names the requests of holders.
const holding = "hold-"

// Logits computes the logits behind the last of ids, one for each id of the
// vocabulary, while the pause is held. It goes before all requests: if the cache has no
// room for it, those are given up that would be in any other case, and computed again.
// Prompts that are refused to others are so here; while the engine sleeps, or when it
// falls asleep before they are computed, the error is ErrAsleep.
func (h *Hold) Logits(ctx context.Context, ids []int32) ([]float32, error) {
	if err := h.lost(); err != nil {
		return nil, fmt.Errorf("logits: %w", err)
	}
	keep := new(keeper)
	n, err := h.engine.enter(Request{PromptIDs: ids, MaxNewTokens: 1, IgnoreEOS: true, Private: true, Sampling: sampling.Params{Processor: keep}}, holding)
	if err == nil {
		n.submit.Urgent = true
		err = h.engine.admit(ctx, n)
	}
	if err != nil {
		return nil, fmt.Errorf("logits: %w", err)
	}
	out := n.records[0].reader().Wait(ctx)
	switch {
	case out.Err != nil:
		return nil, fmt.Errorf("logits: %w", out.Err)
	case len(out.TokenIDs) == 0: // it was cancelled
		return nil, fmt.Errorf("logits: %w", cmp.Or(context.Cause(ctx), context.Canceled))
	}
	return keep.logits, nil
}

// keeper is a sampling.Processor that keeps a row of logits.
type keeper struct{ logits []float32 }

func (k *keeper) Process(_ []int32, _ int, logits []float32) error {
	k.logits = slices.Clone(logits)
	return nil
}
