package engine

import (
	"errors"
	"fmt"
	"slices"
	"testing"
)

// secondVersion is what comes behind FirstVersion here.
const secondVersion = "v2"

// swaps are what runs in which weights change are held against: new engines, one for
// each version, that have had no other weights.
type swaps struct {
	second *trained
	fresh  map[string]*Engine
	rests  map[string][]int32 // what fresh engines brought, by what they were asked
	mixer  *mixer
	mixed  map[string][]int32 // what came of it, by all that it depends on
}

func newSwaps(t *testing.T) *swaps {
	w := &swaps{second: newTrained(t, 1), fresh: map[string]*Engine{}, rests: map[string][]int32{}, mixed: map[string][]int32{}}
	cfg := Config{Threads: 1, PageSize: swapPage}
	w.fresh[FirstVersion] = spawnTiny(t, cfg)
	w.fresh[secondVersion], _ = spawnGated(t, cfg, w.second.set)
	w.mixer = newMixer(t, w.fresh[FirstVersion], w.fresh[secondVersion])
	return w
}

// changeTo lets a version compute that is kept.
func changeTo(t *testing.T, e *Engine, version string) {
	t.Helper()
	if err := e.Rollback(t.Context(), version, KVKeep); err != nil {
		t.Fatal(err)
	}
}

// seeded is a request that draws the same whenever it is asked.
func seeded(r Request) Request {
	seed := uint64(7)
	r.Seed, r.IgnoreEOS = &seed, true
	return r
}

// rest is what a new engine with a version brings as a sequence of a request, of which
// it has the beginning.
func (w *swaps) rest(t *testing.T, version string, r Request, child int, begin []int32) []int32 {
	t.Helper()
	key := fmt.Sprint(version, r.PromptIDs, r.MaxNewTokens, child, begin)
	if w.rests[key] == nil {
		r.PromptIDs, r.MaxNewTokens = slices.Concat(r.PromptIDs, begin), r.MaxNewTokens-len(begin)
		s := mustAdd(t, w.fresh[version], seeded(r))
		for i, s := range append([]*Stream{s}, s.Children()...) {
			if out := s.Wait(t.Context()); i == child {
				w.rests[key] = out.TokenIDs
			}
		}
	}
	return w.rests[key]
}

// mix is what a cache of both versions brings as a sequence of a request, behind the
// tokens that the first version sampled.
func (w *swaps) mix(t *testing.T, r Request, child int, out Output) []int32 {
	t.Helper()
	key := fmt.Sprint(r.PromptIDs, r.MaxNewTokens, child, out.WeightVersions, out.KVVersions)
	if w.mixed[key] == nil {
		w.mixed[key] = w.mixer.tail(t, r, child, out)
	}
	return w.mixed[key]
}

// derivedAlike holds the logits of both versions against those of new engines, and ends
// with the first.
func (w *swaps) derivedAlike(t *testing.T, e *Engine) {
	t.Helper()
	logits := func(e *Engine) []float32 {
		h := pause(t, e, PauseOptions{})
		defer release(t, h)
		all, err := h.Logits(t.Context(), salted(25, 4))
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	for _, version := range []string{secondVersion, FirstVersion} {
		changeTo(t, e, version)
		if !slices.Equal(logits(e), logits(w.fresh[version])) {
			t.Errorf("%s has other logits than in a new engine", version)
		}
	}
}

// swapRun are runs of requests over an engine in which the second version comes behind
// the first.
type swapRun struct {
	*swaps
	engine   *Engine
	gate     *gated
	requests []Request
	kv       KVPolicy
}

// plain runs without a change, and tells how many steps that takes.
func (r *swapRun) plain(t *testing.T) int {
	r.gate.left.Store(0)
	r.judge(t, 0, <-r.together(t))
	changeTo(t, r.engine, secondVersion)
	changeTo(t, r.engine, FirstVersion) // of another epoch: nothing is found in the cache
	return int(-r.gate.left.Load())
}

// swapped runs with a change behind that step of about so many: their number differs by
// who gives way to whom.
func (r *swapRun) swapped(t *testing.T, step, steps int64) {
	r.gate.left.Store(step)
	ended := r.together(t)
	var outs []Output
	select {
	case <-r.gate.reached:
		done := r.gate.changed(t, r.engine, secondVersion, r.kv)
		outs = <-ended
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if step <= steps/2 && !r.met(outs) {
			t.Errorf("policy %d, changed behind step %d of %d: nobody met it", r.kv, step, steps)
		}
	case outs = <-ended: // it has taken fewer steps than another time
		if r.gate.left.Swap(0) <= 0 {
			<-r.gate.reached
			r.gate.open <- struct{}{}
		}
		changeTo(t, r.engine, secondVersion)
	}
	r.judge(t, step, outs)
	changeTo(t, r.engine, FirstVersion)
}

// begin adds all requests at a time, and tells their ends.
func (r *swapRun) begin(t *testing.T) <-chan []Output {
	t.Helper()
	var open []*Stream
	for _, q := range r.requests {
		s := mustAdd(t, r.engine, seeded(q))
		open = append(append(open, s), s.Children()...)
	}
	ended := make(chan []Output, 1)
	go func() {
		var outs []Output
		for _, s := range open {
			out, err := followed(t.Context(), s)
			if err != nil {
				t.Error(err)
			}
			outs = append(outs, out)
		}
		ended <- outs
	}()
	return ended
}

// together is begin, with no step before all requests are there: when each comes changes nothing.
func (r *swapRun) together(t *testing.T) <-chan []Output {
	t.Helper()
	h := pause(t, r.engine, PauseOptions{})
	defer release(t, h)
	return r.begin(t)
}

// judge looks at what came of all sequences.
func (r *swapRun) judge(t *testing.T, step int64, outs []Output) {
	t.Helper()
	for _, q := range r.requests {
		for child := range max(1, q.N) {
			if err := r.right(t, q, child, outs[0]); err != nil {
				t.Fatalf("policy %d, changed behind step %d: %s: %v", r.kv, step, outs[0].RequestID, err)
			}
			outs = outs[1:]
		}
	}
}

// met tells that the change met somebody, and that its policy was followed.
func (r *swapRun) met(outs []Output) bool {
	return slices.ContainsFunc(outs, func(out Output) bool {
		switch r.kv {
		case KVKeep:
			return len(out.KVVersions) == 2
		case KVRecompute:
			return out.Preemptions > 0 && len(out.KVVersions) == 1 && out.KVVersions[0].Version == secondVersion
		}
		return out.FinishReason == FinishAborted
	})
}

// right says what is wrong with a sequence's output.
func (r *swapRun) right(t *testing.T, q Request, child int, out Output) error {
	n, old := len(out.TokenIDs), byFirst(out)
	positions := len(q.PromptIDs) + n - 1
	if n == 0 && len(out.KVVersions) > 0 {
		positions = out.KVVersions[len(out.KVVersions)-1].End
	}
	if err := errors.Join(covers(out.WeightVersions, n), covers(out.KVVersions, positions), ascend(out.WeightVersions), ascend(out.KVVersions)); err != nil && n > 0 {
		return err
	}
	switch {
	case out.FinishReason == FinishAborted && r.kv == KVAbort && old == n:
	case out.FinishReason != FinishLength || n != q.MaxNewTokens:
		return fmt.Errorf("ended %s with %d tokens: %v", out.FinishReason, n, out.Err)
	case r.kv == KVAbort && old > 0 && old < n:
		return fmt.Errorf("goes on behind %d tokens", old)
	}
	if !slices.Equal(out.TokenIDs[:old], r.rest(t, FirstVersion, q, child, nil)[:old]) {
		return fmt.Errorf("%v by the first version", out.TokenIDs[:old])
	}
	if old == n {
		return nil
	}
	var want []int32
	switch mixed := out.KVVersions[0].Version == FirstVersion; {
	case mixed && r.kv == KVRecompute:
		return fmt.Errorf("has a cache of %v", out.KVVersions)
	case mixed:
		want = r.mix(t, q, child, out)
	default:
		want = r.rest(t, secondVersion, q, child, out.TokenIDs[:old])
	}
	if !slices.Equal(out.TokenIDs[old:], want) {
		return fmt.Errorf("brings %v by a cache of %v behind %d tokens, want %v", out.TokenIDs[old:], out.KVVersions, old, want)
	}
	return nil
}

// byFirst is how many tokens the first version sampled.
func byFirst(out Output) int {
	if len(out.WeightVersions) == 0 || out.WeightVersions[0].Version != FirstVersion {
		return 0
	}
	return out.WeightVersions[0].End
}

// ascend wants the second version never before the first, and each once.
func ascend(spans []VersionSpan) error {
	if len(spans) > 2 || len(spans) == 2 && spans[0].Version != FirstVersion {
		return fmt.Errorf("%v", spans)
	}
	return nil
}
