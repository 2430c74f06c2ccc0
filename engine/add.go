package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/cbactor/cbactor/actors"
	"github.com/cbactor/cbactor/sampling"
)

// Bounds of a request.
const (
	maxSequences = 128
	maxPriority  = actors.MaxPriority
	maxStaleness = 1 << 30
)

// Prefixes of the names of requests without one.
const (
	unnamed = "req-"
	warming = "warm-up-"
)

// AddRequest submits a request and returns its stream. A request that can never
// be served, or not now, is refused at once with a typed error, before anything is
// queued; with Request.Wait it waits for room in a full queue, in line with all others
// who do. The request lives as long as ctx: when that ends, it is cancelled.
func (e *Engine) AddRequest(ctx context.Context, r Request) (*Stream, error) {
	if ctx == nil {
		return nil, ofRequest(r, errNoContext)
	}
	n, err := e.enter(r, unnamed)
	if err == nil {
		if r.Wait {
			n.submit.Wait = ctx
		}
		err = e.admit(ctx, n)
	}
	if err != nil {
		return nil, ofRequest(r, err)
	}
	streams := make([]*Stream, len(n.records))
	for i, rec := range n.records {
		streams[i] = rec.reader()
	}
	streams[0].children = streams[1:]
	return streams[0], nil
}

// ofRequest says which request an error is about, where it has a name.
func ofRequest(r Request, err error) error {
	if r.ID == "" {
		return err
	}
	return fmt.Errorf("request %q: %w", r.ID, err)
}

// errNoContext refuses a nil context, for whose end nobody could wait.
var errNoContext = fmt.Errorf("%w: the context is nil: give context.Background()", ErrParams)

// entry is a request whose ids are taken: what intake gets, and the records of its
// sequences.
type entry struct {
	submit  *actors.Submit
	records []*record
	handler func(Chunk)

	session *session // that it is submitted to
	reply   chan error
}

// enter checks a request, takes the ids of its sequences, and copies it.
func (e *Engine) enter(r Request, prefix string) (*entry, error) {
	if err := e.check(r); err != nil {
		return nil, err
	}
	least, err := e.versions.least(r.MinVersion)
	if err != nil {
		return nil, err
	}
	records := e.records(r)
	if err := e.requests.enter(records, prefix); err != nil {
		return nil, err
	}
	n := &entry{submit: e.submission(r, records), records: records, handler: r.Handler}
	n.submit.Version = least
	if err := e.refused(n.submit); err != nil {
		e.requests.withdraw(records, err)
		return nil, err
	}
	e.recording.request(n.submit, records)
	return n, nil
}

// refused says why a request can never be accepted, as far as can be told before it is
// submitted.
func (e *Engine) refused(m *actors.Submit) error {
	s := e.session.Load()
	if err := s.adapters.use(m.Adapter, func() {}); err != nil {
		return err
	}
	return s.system.Check(m)
}

// check refuses what need not be copied first.
func (e *Engine) check(r Request) error {
	switch {
	case e.closed.Load():
		return ErrClosed
	case e.broken.Load():
		return errSendWeights
	case !r.countsRight():
		return fmt.Errorf("%w: n is %d, must be from 1 to %d", ErrParams, r.N, maxSequences)
	case r.Priority < -maxPriority || r.Priority > maxPriority:
		return fmt.Errorf("%w: priority is %d, must be from %d to %d", ErrParams, r.Priority, -maxPriority, maxPriority)
	case r.KV > KVAbort:
		return fmt.Errorf("%w: KV policy %d, must be from %d to %d", ErrParams, r.KV, KVAsUpdate, KVAbort)
	case r.MaxStaleness != nil && (*r.MaxStaleness < 0 || *r.MaxStaleness > maxStaleness):
		return fmt.Errorf("%w: max_staleness is %d, must be from 0 to %d", ErrParams, *r.MaxStaleness, maxStaleness)
	}
	return e.options.Limits.CheckLength(len(r.PromptIDs), r.Score)
}

func (r *Request) countsRight() bool { return r.N >= 0 && r.N <= maxSequences }

// sequences is how many outputs a request has; one whose N is refused has one.
func (r *Request) sequences() int {
	if r.N > 1 && r.countsRight() {
		return r.N
	}
	return 1
}

// records are those of a request's sequences. Their prompt is not the engine's copy:
// the caller gets to see it.
func (e *Engine) records(r Request) []*record {
	prompt, tell, now := slices.Clip(slices.Clone(r.PromptIDs)), e.tell(r), time.Now()
	set := make([]*record, r.sequences())
	for i := range set {
		set[i] = &record{id: r.ID, prompt: prompt, tell: tell, times: r.Timestamps, streaming: r.Streaming,
			requests: e.requests, versions: e.versions, timing: Timing{Created: now}, cancel: func() {}, unbind: func() bool { return true }}
	}
	return set
}

// tell is what a request is told of its tokens: what it asks for, or what the
// configuration has for those that ask for nothing.
func (e *Engine) tell(r Request) sampling.Tell {
	if e.logprobs && r.Sampling.Tell == (sampling.Tell{}) {
		return sampling.Tell{Logprobs: true}
	}
	return r.Sampling.Tell
}

// submission is what intake gets for sequences that are entered.
func (e *Engine) submission(r Request, set []*record) *actors.Submit {
	eos := r.EOS
	if eos == nil {
		eos = e.info.EOS
	}
	if r.IgnoreEOS {
		eos = nil
	}
	m := &actors.Submit{ID: set[0].id, IDs: slices.Clone(r.PromptIDs), MaxNew: r.MaxNewTokens, EOS: slices.Clone(eos),
		Sampling: copied(r.Sampling), Seed: e.seed(r.Seed, set[0].id), Priority: int32(r.Priority), Sink: set[0],
		Score: r.Score, Private: r.Private, Adapter: r.Adapter, Salt: salt(r.Adapter, r.Salt), Stop: r.Stop, Deadline: r.Deadline, FirstToken: r.FirstToken}
	m.Sampling.Tell, m.KV = set[0].tell, r.KV
	if r.MaxStaleness != nil {
		m.Commits = int32(*r.MaxStaleness) + 1
	}
	for _, child := range set[1:] {
		m.Children = append(m.Children, child)
	}
	return m
}

// copied are parameters whose slices the caller may change.
func copied(p sampling.Params) sampling.Params {
	p.Bias, p.Ends, p.Allowed, p.BadWords = slices.Clone(p.Bias), slices.Clone(p.Ends), slices.Clone(p.Allowed), slices.Clone(p.BadWords)
	for i, word := range p.BadWords {
		p.BadWords[i] = slices.Clone(word)
	}
	return p
}

// admit submits a request and waits for the answer. One that is refused is withdrawn.
func (e *Engine) admit(ctx context.Context, n *entry) error {
	if err := e.submit(ctx, n); err != nil {
		return err
	}
	select {
	case err := <-n.reply:
		return e.answered(ctx, n, err)
	case <-n.session.system.Done():
		return e.unanswered(ctx, n)
	}
}

// submit sends a request to the actors and ties it to a context. With an error it is
// withdrawn; else answered or unanswered must follow.
func (e *Engine) submit(ctx context.Context, n *entry) error {
	if err := ctx.Err(); err != nil {
		e.requests.withdraw(n.records, err)
		return err
	}
	n.session, n.reply = e.session.Load(), make(chan error, 1)
	n.submit.Reply = n.reply
	for _, r := range n.records {
		r.cancel = func() { n.session.system.Cancel(r.id, r) }
		if ctx.Done() != nil {
			r.unbind = context.AfterFunc(ctx, r.cancel)
		}
	}
	if err := n.session.adapters.use(n.submit.Adapter, func() { n.session.system.Submit(n.submit) }); err != nil {
		return e.answered(ctx, n, err)
	}
	n.cancelAgain(ctx)
	return nil
}

// cancelAgain cancels what was cancelled before intake had it.
func (n *entry) cancelAgain(ctx context.Context) {
	for _, r := range n.records {
		if ctx.Err() != nil || r.cancelled.Load() {
			r.cancel()
		}
	}
}

// answered does what follows from intake's answer. One that Cancel has ended while it
// waited for room ends as it would later.
func (e *Engine) answered(ctx context.Context, n *entry, err error) error {
	cancelled := errors.Is(err, actors.ErrCancelled)
	switch {
	case cancelled && ctx.Err() != nil:
		err = ctx.Err()
	case cancelled:
		err = nil
	}
	if err != nil {
		for _, r := range n.records {
			r.unbind()
		}
		e.requests.withdraw(n.records, err)
		return err
	}
	n.cancelAgain(ctx)
	for _, r := range n.records {
		if cancelled {
			r.End(actors.End{Reason: FinishCancelled})
		}
		if n.handler != nil {
			e.serve(r, n.handler)
		}
	}
	return nil
}

// unanswered is answered for one whose session has ended.
func (e *Engine) unanswered(ctx context.Context, n *entry) error {
	select {
	case err := <-n.reply: // both were there: it was accepted and has ended, or refused
		return e.answered(ctx, n, err)
	default:
		return e.answered(ctx, n, e.ended(n.session))
	}
}

// seed is the request's own, or one drawn from the engine's and the request's id,
// so that a run with ids of the caller's can be repeated from the engine's seed.
func (e *Engine) seed(own *uint64, id string) uint64 {
	if own != nil {
		return *own
	}
	h := e.info.Seed
	for _, b := range []byte(id) { // FNV-1a
		h = (h ^ uint64(b)) * 1099511628211
	}
	return rand.NewPCG(e.info.Seed, h).Uint64()
}
