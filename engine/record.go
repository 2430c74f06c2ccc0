package engine

import (
	"container/list"
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cbactor/cbactor/actors"
	"github.com/cbactor/cbactor/sampling"
)

// record is what has come from a sequence so far: a log that intake writes, as an
// actors.Sink, and any number of readers read, each at its own pace. What was
// written stays as it is, so readers keep slices of it without copying.
type record struct {
	id        string
	prompt    []int32 // the caller's to keep: nobody else has it
	tell      sampling.Tell
	times     bool        // keep the moment of each token
	streaming bool        // handlers and ResultsOf get news as it comes
	requests  *requests   // where it is entered
	versions  *versions   // of weights
	log       *logged     // its place in the replay log
	cancel    func()      // tells intake; set when it is submitted
	unbind    func() bool // lets go of the request's context
	onEnd     func()      // called once it has ended, on intake's goroutine; nil: nobody asks

	cancelled atomic.Bool // by its id, maybe before intake has it
	unread    bool        // it has no Stream

	// Of requests, under its lock.
	keep   bool          // its result waits there to be read
	place  *list.Element // among those that do; nil: it has not ended
	claims int           // who waits for it by name
	gone   bool          // it has ended

	// What has come, under mu.
	mu             sync.Mutex
	tokens         []int32
	logprobs       []sampling.Drawn // one per token, if tell says so
	promptLogprobs []sampling.Drawn
	timing         Timing
	weights        []VersionSpan // of the tokens
	cache          actors.Cache  // that the last one came from
	end            *actors.End
	fault          error // what its caller's code did: it fails for that once it is cancelled
	readers        []*Stream
}

// firstTokens is how many tokens a record has room for at first.
const firstTokens = 32

// Started implements actors.Sink.
func (r *record) Started() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.timing.Started = time.Now()
	r.log.begun()
}

// Tokens implements actors.Sink.
func (r *record) Tokens(news actors.News) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.tell.Prompt {
		r.promptLogprobs = appendDrawn(r.promptLogprobs, news.Prompt)
	}
	if len(news.IDs) == 0 {
		return
	}
	r.cache = news.Cache
	r.log.sampled(&news, len(r.tokens))
	now := time.Now()
	if r.tokens == nil {
		r.tokens, r.timing.First = make([]int32, 0, firstTokens), now
	}
	r.tokens = append(r.tokens, news.IDs...)
	r.weights = r.versions.sampled(r.weights, news.Epoch, len(r.tokens))
	if r.tell.Logprobs || r.tell.Kept {
		r.logprobs = appendDrawn(r.logprobs, news.Drawn)
	}
	if r.times {
		for range news.IDs {
			r.timing.Tokens = append(r.timing.Tokens, now)
		}
	}
	r.notify()
}

// appendDrawn appends copies, with memory of their own: what they have none of is nil,
// whatever memory it had.
func appendDrawn(list, from []sampling.Drawn) []sampling.Drawn {
	for _, d := range from {
		d.Top, d.Kept = append([]sampling.Logprob(nil), d.Top...), append([]int32(nil), d.Kept...)
		list = append(list, d)
	}
	return list
}

// End implements actors.Sink. The id is free before anybody can see the end.
func (r *record) End(e actors.End) {
	r.requests.left(r)
	r.mu.Lock()
	if r.timing.Ended.IsZero() { // else it was told
		r.timing.Ended = time.Now()
	}
	if r.fault != nil && e.Reason == FinishCancelled {
		e.Reason, e.Err = FinishFailed, r.fault
	}
	r.end = &e
	r.log.ended(r.tokens, e)
	r.notify()
	r.mu.Unlock()
	r.unbind()
	r.requests.ended(r)
	if r.onEnd != nil {
		r.onEnd()
	}
}

// refuse is the end of one that was not accepted.
func (r *record) refuse(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	reason, err := refusal(err)
	r.end, r.timing.Ended = &actors.End{Reason: reason, Err: err}, time.Now()
	r.notify()
}

// refusal says how one ends that was not accepted because of err.
func refusal(err error) (FinishReason, error) {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return FinishCancelled, nil
	}
	return FinishFailed, err
}

// notify tells all readers that something came. mu is held.
func (r *record) notify() {
	for _, s := range r.readers {
		select {
		case s.news <- struct{}{}:
		default: // it will look anyway
		}
	}
}

// fail ends a request because of its caller's code, unless it has ended.
func (r *record) fail(err error) {
	r.mu.Lock()
	if r.fault == nil {
		r.fault = err
	}
	r.mu.Unlock()
	r.cancel()
}

// output is what became of the request once it has ended.
func (r *record) output() Output {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.final()
}

// final is output with mu held.
func (r *record) final() Output {
	n := len(r.tokens)
	return Output{
		RequestID: r.id, PromptIDs: r.prompt, TokenIDs: r.tokens[:n:n],
		FinishReason: r.end.Reason, Err: r.end.Err, Matched: r.end.Matched, Preemptions: r.end.Preemptions, Timing: r.timing,
		WeightVersions: slices.Clone(r.weights), KVVersions: r.versions.cache(r.end.Cache),
		Logprobs: r.logprobs, PromptLogprobs: r.promptLogprobs,
		Usage: Usage{PromptTokens: len(r.prompt), CompletionTokens: n, CachedTokens: r.end.Cached},
	}
}
