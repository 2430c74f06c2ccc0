package actors

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/cbactor/cbactor/internal/trace"
	"github.com/cbactor/cbactor/messages"
	"github.com/cbactor/cbactor/sched"
)

// tracer tells a trace what happens to requests, under their ids. A nil tracer does
// nothing: that check is all that an engine without a trace pays.
//
// Concurrency: intake and scheduler share it, and supervisor when intake is dead,
// under a lock that is held for no longer than it takes to note a step. Nothing here
// waits for the file.
type tracer struct {
	rec     *trace.Recorder
	version func(epoch uint32) string
	epoch   uint32 // of the weights that the next plan computes with

	mu      sync.Mutex
	open    map[sched.Key]*traced
	waiting int // of open

	waits  []sched.Wait // of the plan being noted
	shares []share      // per slot, of the plan being noted
}

// traced is an open request.
type traced struct {
	id      string
	waiting bool        // in line, or given up
	queued  int64       // microseconds
	first   int64       // from queued to the first token, 0: none yet
	again   bool        // was started before
	forks   []sched.Key // sequences that are to be forked from it
	wait    sched.Wait  // the last one noted, unless it was in a step since
}

// newTracer begins the trace of a System, nil if it has none.
func newTracer(o Options) *tracer {
	if o.Trace == nil {
		return nil
	}
	info := o.Executor.Info()
	h := trace.Header{PageSize: info.PageSize, Blocks: o.Sched.Blocks, HostBlocks: o.Sched.Host, Slots: o.Sched.MaxSlots, StepTokens: o.Sched.MaxTokens}
	return &tracer{open: map[sched.Key]*traced{}, shares: make([]share, o.Sched.MaxSlots), version: o.Version,
		rec: trace.NewRecorder(o.Trace, h, func(err error) { o.Log.Warn().Err(err).Msg("trace") })}
}

// queued notes a request that was accepted. parent is the first sequence of it, nil
// for that itself; the others are not in line, unless they are not forked from it.
func (t *tracer) queued(o *open, s *sched.Submit, parent *open) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	e := trace.Event{Kind: trace.Queued, ID: o.id, Prompt: len(s.IDs), MaxNew: int(s.MaxNew), Ahead: t.waiting}
	r := &traced{id: o.id, waiting: parent == nil}
	if parent != nil {
		e.Of, e.Ahead = parent.id, 0
		if p := t.open[parent.key]; p != nil {
			p.forks = append(p.forks, o.key)
		}
	} else {
		t.waiting++
	}
	r.queued = t.rec.Add(e)
	t.open[o.key] = r
}

// tokens notes the first tokens of a step.
func (t *tracer) tokens(m *sched.Tokens) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range m.Items {
		r := t.open[m.Items[i].Key]
		if r != nil && r.first == 0 && len(m.Items[i].IDs) > 0 {
			t.orphan(r)
			r.first = max(1, t.rec.Add(trace.Event{Kind: trace.First, ID: r.id, Step: m.Step})-r.queued)
		}
	}
}

// orphan notes that what should be forked from r and was not stands in line.
func (t *tracer) orphan(r *traced) {
	for _, k := range r.forks {
		if f := t.open[k]; f != nil && !f.again && !f.waiting {
			f.waiting = true
			t.waiting++
		}
	}
	r.forks = nil
}

// ended notes the end of a request. What the scheduler does for it until it hears
// of a cancel is not noted any more.
func (t *tracer) ended(o *open, reason Reason, err error) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.open[o.key]
	if r == nil {
		return
	}
	t.orphan(r)
	if r.waiting {
		t.waiting--
	}
	e := trace.Event{Kind: trace.Ended, ID: r.id, Reason: string(reason), Matched: o.matched, Tokens: o.tokens, Cached: o.cached, Preemptions: o.preemptions, FirstMicros: r.first}
	if err != nil {
		e.Error = err.Error()
	}
	t.rec.Add(e)
	delete(t.open, o.key)
}

// mode notes a mode that the scheduler obeys.
func (t *tracer) mode(m *messages.SetMode) {
	if t == nil {
		return
	}
	name := modeName(m.Mode)
	if m.Shut {
		name = "sleeping"
	}
	t.rec.Add(trace.Event{Kind: trace.Mode, Mode: name, Holders: int(m.Holders)})
}

// modeName is a mode as people read it.
func modeName(m messages.Mode) string {
	return strings.ToLower(strings.TrimPrefix(m.String(), "MODE_"))
}

// finish lets the trace end.
func (t *tracer) finish() {
	if t != nil {
		t.rec.Finish()
	}
}

// wait waits until the trace is in its file, which is no longer than closeTimeout.
func (t *tracer) wait() error {
	if t == nil {
		return nil
	}
	select {
	case <-t.rec.Done():
		return nil
	case <-time.After(closeTimeout):
		return fmt.Errorf("%w: a write does not return", trace.ErrWrite)
	}
}
