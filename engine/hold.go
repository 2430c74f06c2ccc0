package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/cbactor/cbactor/actors"
	"github.com/cbactor/cbactor/sampling"
)

// hold is a Hold of an Engine's actors.
type hold struct {
	engine *Engine
	held   *actors.Hold

	mu      sync.Mutex
	weights *heldWeights // nil: nobody asked for them
}

// Release implements Hold.
func (h *hold) Release(version string) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-h.held.Done():
			cancel()
		case <-ctx.Done():
		}
	}()
	committed, err := h.commit(ctx, version)
	left := h.held.Release()
	switch {
	case err == nil && committed: // if the hold has ended meanwhile, the weights are whole nevertheless
		return nil
	case err == nil, left != nil && errors.Is(err, context.Canceled):
		return left
	}
	return fmt.Errorf("release: %w", err)
}

// lost says why the pause is not held any more; nil: it is.
func (h *hold) lost() error {
	select {
	case <-h.held.Done():
		return cmp.Or(h.held.Err(), ErrHoldLost)
	default:
		return nil
	}
}

// Renew implements Hold.
func (h *hold) Renew() error { return h.held.Renew() }

// Done implements Hold.
func (h *hold) Done() <-chan struct{} { return h.held.Done() }

// Err implements Hold.
func (h *hold) Err() error { return h.held.Err() }

// holding names the requests of holders.
const holding = "hold-"

// Logits implements Hold. A commit meanwhile neither ends the request nor mixes weights:
// its cache is computed again.
func (h *hold) Logits(ctx context.Context, ids []int32) ([]float32, error) {
	if err := h.lost(); err != nil {
		return nil, fmt.Errorf("logits: %w", err)
	}
	keep := new(keeper)
	n, err := h.engine.enter(Order{urgent: true, Request: Request{PromptIDs: ids, MaxNewTokens: 1, IgnoreEOS: true, Private: true, KV: KVRecompute, Sampling: sampling.Params{Processor: keep}}}, holding)
	if err == nil {
		err = h.engine.admit(ctx, n, false)
	}
	if err != nil {
		return nil, fmt.Errorf("logits: %w", err)
	}
	out := n.records[0].reader().Wait(ctx)
	switch {
	case out.Err != nil:
		return nil, fmt.Errorf("logits: %w", out.Err)
	case out.FinishReason == FinishCancelled:
		return nil, fmt.Errorf("logits: %w", cmp.Or(context.Cause(ctx), context.Canceled))
	case out.FinishReason != FinishLength:
		return nil, fmt.Errorf("logits: %w: it ended %s", ErrFailed, out.FinishReason)
	}
	return keep.logits, nil
}

// keeper is a sampling.Processor that keeps a row of logits.
type keeper struct{ logits []float32 }

func (k *keeper) Process(_ []int32, _ int, logits []float32) error {
	k.logits = slices.Clone(logits)
	return nil
}
