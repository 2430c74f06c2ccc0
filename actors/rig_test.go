package actors

import (
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/internal/obs"
	"github.com/cbactor/cbactor/sched"
)

// rig is a System over an ECHO executor in virtual time, whose steps take stepTime.
type rig struct {
	*System
	t      *testing.T
	count  atomic.Int64 // of steps run
	inside atomic.Bool  // a step runs
	mood   atomic.Pointer[error]
}

// moody is an ECHO whose Sleep and Wake fail when its rig says so.
type moody struct {
	*executor.Echo
	mood *atomic.Pointer[error]
}

func (m moody) Sleep(kv, weights bool) error {
	if err := m.mood.Load(); err != nil {
		return *err
	}
	return m.Echo.Sleep(kv, weights)
}

func (m moody) Wake() error {
	if err := m.mood.Load(); err != nil {
		return *err
	}
	return m.Echo.Wake()
}

const stepTime = 10 * time.Millisecond

// inVirtualTime runs a test in a bubble of virtual time: a wait costs nothing, and
// what is due at the same moment has happened when the test goes on.
func inVirtualTime(t *testing.T, ec executor.EchoConfig, depth int, play func(*rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := &rig{t: t}
		ec.Delay = func(*executor.Batch) {
			r.count.Add(1)
			r.inside.Store(true)
			time.Sleep(stepTime)
			r.inside.Store(false)
		}
		ec.Outstanding, ec.Context = depth, 2048
		ex := executor.NewEcho(ec)
		info := ex.Info()
		r.System = Start(Options{Executor: moody{ex, &r.mood}, Log: zerolog.Nop(),
			Sched:  sched.Config{MaxTokens: info.MaxTokens, MaxSlots: info.MaxSlots, PageSize: info.PageSize, Blocks: info.Groups[0].Blocks, Depth: depth, Sharing: true},
			Limits: Limits{Vocab: info.Vocab, MaxContext: info.MaxContext, CacheTokens: CacheTokens(info, info.MaxTokens), MaxOpen: 1000}})
		defer func() {
			r.Stop(true, false)
			if err := r.Close(); err != nil {
				t.Error(err)
			}
			time.Sleep(2 * obs.DeadLetterPause) // the library's goroutine ends
		}()
		play(r)
	})
}

// add submits a request under a name, with further sequences for children, and
// gives the record of each.
func (r *rig) add(m Submit, children int) []*record {
	r.t.Helper()
	all, err := r.try(m, children)
	if err != nil {
		r.t.Fatal(err)
	}
	return all
}

func (r *rig) try(m Submit, children int) ([]*record, error) {
	all := []*record{newRecord(r.t)}
	m.Sink = all[0]
	for range children {
		all = append(all, newRecord(r.t))
		m.Children = append(m.Children, all[len(all)-1])
	}
	reply := make(chan error, 1)
	m.Reply = reply
	r.Submit(&m)
	return all, <-reply
}

// after lets time go by.
func (r *rig) after(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// ended wants a request to have ended for a reason, with so many tokens, -1: any number.
func (r *rig) ended(what string, rec *record, reason Reason, tokens int) {
	r.t.Helper()
	rec.mu.Lock()
	defer rec.mu.Unlock()
	switch {
	case len(rec.ends) != 1:
		r.t.Errorf("%s ended %d times", what, len(rec.ends))
	case rec.ends[0].Reason != reason || tokens >= 0 && len(rec.tokens) != tokens:
		r.t.Errorf("%s ended %s with %d tokens (%v), want %s with %d", what, rec.ends[0].Reason, len(rec.tokens), rec.ends[0].Err, reason, tokens)
	case reason == ReasonFailed && !errors.Is(rec.ends[0].Err, ErrFailed):
		r.t.Errorf("%s failed of no class: %v", what, rec.ends[0].Err)
	}
}

// open wants a request not to have ended.
func (r *rig) open(what string, rec *record) {
	r.t.Helper()
	rec.mu.Lock()
	defer rec.mu.Unlock()
	if len(rec.ends) > 0 {
		r.t.Errorf("%s ended %s", what, rec.ends[0].Reason)
	}
}

// promptOf is n tokens of a text.
func promptOf(n, text int) []int32 {
	p := make([]int32, n)
	for i := range p {
		p[i] = int32((i*7919 + text*104729 + 17) % 50021)
	}
	return p
}

// steps is how many began.
func (r *rig) steps() int { return int(r.count.Load()) }
