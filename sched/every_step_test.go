package sched

import (
	"fmt"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/sampling"
)

// everyStep are situations in which weights change, at any message of a life: requests
// of which each brings tokens by itself.
var everyStep = []struct {
	name     string
	config   simConfig
	requests []Submit
}{
	{"prefill", simConfig{page: 4, blocks: 64, slots: 4, tokens: 5, depth: 1, sharing: true}, []Submit{
		{Key: 1, IDs: prompt(70, 1), MaxNew: 8}, {Key: 2, IDs: prompt(70, 1), MaxNew: 4}}},
	{"decode", simConfig{page: 4, blocks: 64, slots: 4, tokens: 64, depth: 1, sharing: true}, []Submit{
		{Key: 1, IDs: prompt(9, 1), MaxNew: 64}, {Key: 2, IDs: prompt(9, 2), MaxNew: 64}}},
	{"swapped", simConfig{page: 4, blocks: 22, slots: 4, tokens: 64, depth: 1, sharing: true, host: 40}, []Submit{
		{Key: 1, IDs: prompt(14, 1), MaxNew: 64}, {Key: 2, IDs: prompt(14, 2), MaxNew: 64}}},
	{"swapped, ahead of its row", simConfig{page: 4, blocks: 22, slots: 4, tokens: 64, depth: 2, sharing: true, host: 40, overlap: true}, []Submit{
		{Key: 1, IDs: prompt(14, 1), MaxNew: 64}, {Key: 2, IDs: prompt(14, 2), MaxNew: 64}}},
	{"forked", simConfig{page: 4, blocks: 80, slots: 4, tokens: 8, depth: 1, sharing: true}, []Submit{
		{Key: 1, IDs: prompt(18, 1), MaxNew: 64, N: 3, Sampling: sampling.Params{Temperature: 1}, Seed: 7}}},
	{"double-buffered", simConfig{page: 4, blocks: 64, slots: 4, tokens: 64, depth: 2, sharing: true}, []Submit{
		{Key: 1, IDs: prompt(9, 1), MaxNew: 64}, {Key: 2, IDs: prompt(30, 2), MaxNew: 64}}},
}

// Whenever the weights change, and whatever the policy: no token is lost or comes
// twice, the spans of versions cover the tokens and ascend, what was computed again
// goes on as new weights alone do, and what was kept as its cache says.
func TestSwapAtEveryMessage(t *testing.T) {
	stride := 1
	if testing.Short() {
		stride = 5
	}
	for _, c := range everyStep {
		for _, kv := range []KV{Keep, Recompute, Abort} {
			t.Run(fmt.Sprintf("%s/%d", c.name, kv), func(t *testing.T) {
				last := false
				for n := 0; !last; n += stride {
					s := resumedSim(t, c.config)
					for _, r := range c.requests {
						s.send(r)
					}
					for i := 0; i < n && !last; i++ {
						last = !s.step()
					}
					s.commit(kv, false)
					s.drain()
					s.check()
					for k, o := range s.all {
						if err := o.swapped(kv); err != nil {
							t.Fatalf("message %d: request %d %v", n, k, err)
						}
					}
				}
			})
		}
	}
}

// swapped holds a sequence against the plain function, with epoch 1 before a commit
// and 2 behind it.
func (o *outcome) swapped(kv KV) error {
	old := slices.Index(o.epochs, 2) // tokens of the first epoch
	if old < 0 {
		old = len(o.epochs)
	}
	if want := slices.Concat(slices.Repeat([]uint32{1}, old), slices.Repeat([]uint32{2}, len(o.got)-old)); !slices.Equal(o.epochs, want) {
		return fmt.Errorf("has tokens of epochs %v", o.epochs)
	}
	switch {
	case o.end == Aborted && kv == Abort && old == len(o.got):
		return nil
	case o.end != Length || len(o.got) != int(o.claims.request.MaxNew):
		return fmt.Errorf("ended %d with %d tokens", o.end, len(o.got))
	case kv == Abort && old > 0 && old < len(o.got):
		return fmt.Errorf("goes on behind %d tokens", old)
	}
	first := o.claims.runs[0].Epoch
	if kv == Keep && old < len(o.got) && old > 0 && first != 1 {
		return fmt.Errorf("has cache of %v", o.claims.runs)
	}
	ids := slices.Clone(o.prompt)
	for i := range o.got {
		epochs := slices.Repeat([]uint32{1}, len(ids)) // of a cache that is kept: the row that drew the next token wrote it
		for j := range o.got[:i] {
			epochs[len(o.prompt)+j] = o.epochs[j+1]
		}
		if kv == Recompute && i >= old { // as one who has had nothing else
			epochs = slices.Repeat([]uint32{2}, len(ids))
		}
		if old == 0 { // the commit came in the prompt
			var err error
			if epochs, err = perPosition(o.claims.runs, int32(len(ids))); err != nil {
				return err
			}
		}
		next := sampled(&o.claims.request, o.claims.child, len(ids), executor.EchoNext(ids, epochs, vocab))
		if ids = append(ids, next); o.got[i] != next {
			return fmt.Errorf("brings %d as token %d, want %d", o.got[i], i, next)
		}
	}
	return nil
}
