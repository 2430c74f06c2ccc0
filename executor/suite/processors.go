package suite

import (
	"errors"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/sampling"
)

// watcher is a Processor that notes what it is shown, steers, and fails on request.
type watcher struct {
	mu     sync.Mutex // rows are drawn on many threads
	seen   []sampling.History
	vocab  int // 0: logits stay as they are
	fail   int // the call that fails, from 1; 0: none
	broken error
}

// Process implements sampling.Processor.
func (w *watcher) Process(ids []int32, prompt int, logits []float32) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = append(w.seen, sampling.History{IDs: slices.Clone(ids), Prompt: int32(prompt)})
	if len(w.seen) == w.fail {
		if w.broken == nil {
			panic("on purpose")
		}
		return w.broken
	}
	if w.vocab > 0 {
		for id := range logits {
			if int32(id) != steered(len(ids), w.vocab) {
				logits[id] = float32(math.Inf(-1))
			}
		}
	}
	return nil
}

// steered is the only token that a watcher leaves at a position.
func steered(position, vocab int) int32 { return int32((7*position + 3) % vocab) }

// watch gives every request a watcher; every second one steers.
func watch(info executor.Info, requests []request) []*watcher {
	watchers := make([]*watcher, len(requests))
	for i := range requests {
		watchers[i] = new(watcher)
		if i%2 == 1 {
			watchers[i].vocab = info.Vocab
		}
		requests[i].sampling.Processor = watchers[i]
	}
	return watchers
}

// check holds what w has seen against the request and its tokens.
func (w *watcher) check(t *testing.T, r *request, out []int32) {
	t.Helper()
	if len(w.seen) != len(out) {
		t.Fatalf("the processor was called %d times for %d tokens", len(w.seen), len(out))
	}
	for i, h := range w.seen {
		if want := slices.Concat(r.ids, out[:i]); !slices.Equal(h.IDs, want) || int(h.Prompt) != r.prompted() {
			t.Errorf("before token %d the processor sees %v, of which %d are prompt; want %v and %d", i, h.IDs, h.Prompt, want, r.prompted())
		}
		if w.vocab > 0 && out[i] != steered(len(h.IDs), w.vocab) {
			t.Errorf("token %d is %d, the processor leaves %d only", i, out[i], steered(len(h.IDs), w.vocab))
		}
	}
}

// testProcessors runs requests with processors alone and together, as forks, and
// admitted with what they had generated.
func testProcessors(t *testing.T, newExecutor Make) {
	d := newDriver(t, open(t, newExecutor, small))
	requests := mixed(d.info)[:6]
	watchers := watch(d.info, requests)
	want := tokens(t, d.run(requests, alone))
	for i, w := range watchers {
		w.check(t, &requests[i], want[i])
	}
	watchers = watch(d.info, requests)
	together := tokens(t, d.run(requests, policy{chunk: 5, together: 6, ahead: 1}))
	same(t, "together", together, want)
	for i, w := range watchers {
		w.check(t, &requests[i], together[i])
	}
	for i := range requests {
		r := requests[i]
		r.promptLen = len(r.ids)
		r.ids, r.n = slices.Concat(r.ids, want[i][:2]), r.n-2
		one := []request{r}
		w := watch(d.info, one)[0]
		w.vocab = watchers[i].vocab
		out := tokens(t, d.run(one, alone))
		same(t, "resumed", out, [][]int32{want[i][2:]})
		w.check(t, &r, out[0])
	}
}

// testForkedProcessors lets every member of a family have its own history.
func testForkedProcessors(t *testing.T, newExecutor Make) {
	d := newDriver(t, open(t, newExecutor, small))
	requests := make([]request, 3)
	for i := range requests {
		requests[i] = prompts(d.info, 6)[0]
		requests[i].child, requests[i].sampling.Temperature = int32(i), 2
		requests[i].sampling.Tell = sampling.Tell{Logprobs: true, Top: 2, Prompt: i == 0}
	}
	watchers := watch(d.info, requests)
	out := forkAll(d, requests)
	for i, w := range watchers {
		w.check(t, &requests[i], out[i])
	}
}

// testFailingProcessors has requests whose processors fail and panic, at the first
// token and later: each fails alone, with the tokens that it had.
func testFailingProcessors(t *testing.T, newExecutor Make) {
	d := newDriver(t, open(t, newExecutor, small))
	requests := prompts(d.info, 5, 9, 3, 14, 6)
	want := tokens(t, d.run(requests, alone))
	broken := errors.New("broken")
	for i, w := range map[int]*watcher{0: {fail: 1, broken: broken}, 2: {fail: 3}, 3: {fail: 1}} {
		requests[i].sampling.Processor, requests[i].sampling.Tell.Logprobs = w, true
	}
	got := d.run(requests, policy{chunk: 32, together: 5, ahead: d.info.MaxOutstanding})
	for i, left := range map[int]int{0: 0, 2: 2, 3: 0} {
		s := got[i]
		if !errors.Is(s.err, sampling.ErrProcessor) || !slices.Equal(s.out, want[i][:left]) || len(s.drawn) != left {
			t.Errorf("request %d: tokens %v, %d told of, and %v; want %v and ErrProcessor", i, s.out, len(s.drawn), s.err, want[i][:left])
		}
	}
	if !errors.Is(got[0].err, broken) {
		t.Errorf("%v does not wrap the processor's error", got[0].err)
	}
	for _, i := range []int{1, 4} {
		same(t, "beside failing processors", tokens(t, got[i:i+1]), want[i:i+1])
	}
}
