package actors

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"github.com/cbactor/cbactor/blockmgr"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/messages"
	"github.com/cbactor/cbactor/sampling"
	"github.com/cbactor/cbactor/sched"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// record is a Sink that keeps everything, and complains of what comes after the end.
type record struct {
	t       *testing.T
	mu      sync.Mutex
	tokens  []int32
	epochs  []uint32 // one per token
	drawn   []sampling.Drawn
	prompt  []sampling.Drawn
	started bool
	ends    []End
	done    chan struct{}
}

func newRecord(t *testing.T) *record { return &record{t: t, done: make(chan struct{})} }

func (r *record) Started() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.started || len(r.tokens)+len(r.ends) > 0 {
		r.t.Error("started twice, or after something")
	}
	r.started = true
}

func (r *record) Tokens(n News) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.ends) > 0 {
		r.t.Error("tokens after the end")
	}
	if len(n.IDs)+len(n.Prompt) == 0 {
		r.t.Error("news of nothing")
	}
	for range n.IDs {
		r.epochs = append(r.epochs, n.Epoch)
	}
	r.tokens = append(r.tokens, n.IDs...)
	for _, d := range n.Drawn {
		r.drawn = append(r.drawn, copied(d))
	}
	for _, d := range n.Prompt {
		r.prompt = append(r.prompt, copied(d))
	}
}

// copied is d with memory of its own: what a sink is given is valid during the call.
func copied(d sampling.Drawn) sampling.Drawn {
	d.Top, d.Kept = slices.Clone(d.Top), slices.Clone(d.Kept)
	return d
}

func (r *record) End(e End) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ends = append(r.ends, e); len(r.ends) > 1 {
		r.t.Errorf("ended %d times: %v", len(r.ends), r.ends)
		return
	}
	close(r.done)
}

func (r *record) wait() End {
	r.t.Helper()
	select {
	case <-r.done:
		return r.ends[0]
	case <-time.After(20 * time.Second):
		r.t.Fatal("a request never ended")
		return End{}
	}
}

// startEcho starts the actors over an ECHO executor with 256 blocks of 16 tokens.
func startEcho(t *testing.T, delay func(*executor.Batch)) *System {
	t.Helper()
	ex := executor.NewEcho(executor.EchoConfig{Blocks: 256, Slots: 8, Context: 1024, Delay: delay})
	s := Start(Options{Executor: ex, Log: zerolog.Nop(),
		Sched:  sched.Config{MaxTokens: 64, MaxSlots: 8, PageSize: 16, Blocks: 256, Depth: 1},
		Limits: Limits{Vocab: 50021, MaxContext: 1024, CacheTokens: 4096, MaxOpen: 200_000}})
	t.Cleanup(func() {
		s.Stop(true, false)
		if err := s.Close(); err != nil && !errors.Is(err, ErrStuck) {
			t.Error(err)
		}
	})
	return s
}

func submit(s *System, id string, sink Sink, n int) error {
	reply := make(chan error, 1)
	s.Submit(&Submit{ID: id, IDs: []int32{3, 1, 4}, MaxNew: n, Sink: sink, Reply: reply})
	select {
	case err := <-reply:
		return err
	case <-s.Done():
		return fmt.Errorf("%w: %w", ErrClosed, s.Err())
	}
}

func TestARequestGoesThroughAllActors(t *testing.T) {
	s, r := startEcho(t, nil), newRecord(t)
	if err := submit(s, "a", r, 5); err != nil {
		t.Fatal(err)
	}
	if e := r.wait(); e.Reason != ReasonLength {
		t.Errorf("ended %+v", e)
	}
	if want := executor.EchoRef([]int32{3, 1, 4}, 5, 50021, 1); !slices.Equal(r.tokens, want) {
		t.Errorf("got %v, want %v", r.tokens, want)
	}
}

// Whatever actor breaks, every open request fails, once, and the engine says why.
func TestAnyCrashFailsEveryOpenRequest(t *testing.T) {
	for name, plant := range map[string]func(*System, *actor.RootContext){
		"blocks": func(s *System, r *actor.RootContext) {
			r.Send(s.blocks, &blockmgr.Reserve{Release: []blockmgr.Release{{Slot: 7}}})
		},
		"scheduler": func(s *System, r *actor.RootContext) {
			r.Send(s.scheduler, ahead[blockmgr.Reserved]{&blockmgr.Reserved{Step: 999}})
		},
		"scheduler panics": func(s *System, r *actor.RootContext) { r.Send(s.scheduler, (*sched.Submit)(nil)) },
		"executor": func(s *System, r *actor.RootContext) {
			r.Send(s.executor, &executor.Batch{Step: 999, Rows: []executor.Row{{Slot: 7, Count: 1}}})
		},
		"intake panics": func(s *System, r *actor.RootContext) { r.Send(s.intake, ahead[sched.Tokens]{}) },
		"supervisor panics": func(s *System, r *actor.RootContext) {
			r.Send(s.supervisor, (*messages.Stop)(nil))
			r.Send(s.supervisor, (*fatal)(nil))
		},
		"a child is killed": func(s *System, r *actor.RootContext) { r.Stop(s.blocks) },
	} {
		t.Run(name, func(t *testing.T) {
			// A second question to blocks while the first is out would not be a crash that
			// happens: there the step is held, so that nothing is asked.
			held := name == "blocks"
			begun, release := make(chan struct{}, 1000), make(chan struct{})
			defer close(release)
			s := startEcho(t, func(*executor.Batch) {
				begun <- struct{}{}
				if held {
					<-release
				}
				time.Sleep(time.Millisecond)
			})
			var records []*record
			for i := range 20 {
				r := newRecord(t)
				if err := submit(s, fmt.Sprint(i), r, 900); err != nil {
					t.Fatal(err)
				}
				records = append(records, r)
			}
			<-begun
			plant(s, s.sys.Root)
			if name == "supervisor panics" {
				s.Stop(true, false) // a nil Stop is soft: nobody else ends it
			}
			for _, r := range records {
				e := r.wait()
				if e.Reason != ReasonFailed || !errors.Is(e.Err, ErrFailed) {
					t.Errorf("ended %+v", e)
				}
			}
			<-s.Done()
			if !errors.Is(s.Err(), ErrCrashed) {
				t.Errorf("the engine ended with %v", s.Err())
			}
		})
	}
}

// A stop overtakes a backlog: intake, held up while twenty thousand requests queue
// behind, refuses all of them because the command comes first.
func TestAStopOvertakesTheBacklog(t *testing.T) {
	const backlog = 20_000
	begun := make(chan struct{}, 1000)
	s := startEcho(t, func(*executor.Batch) { begun <- struct{}{} })
	held := make(chan error) // no room: intake waits in its Receive until it is read
	s.Submit(&Submit{ID: "held", IDs: []int32{3, 1, 4}, MaxNew: 900, Sink: newRecord(t), Reply: held})
	<-begun // it was accepted, so intake is at its reply
	replies := make(chan error, backlog)
	for i := range backlog {
		s.Submit(&Submit{ID: fmt.Sprint(i), IDs: []int32{3, 1, 4}, MaxNew: 900, Sink: newRecord(t), Reply: replies})
	}
	s.Stop(true, false) // intake has been told
	if err := <-held; err != nil {
		t.Fatal(err)
	}
	<-s.Done()
	close(replies)
	for err := range replies {
		if !errors.Is(err, ErrStopping) {
			t.Fatalf("a request of the backlog: %v", err)
		}
	}
}

// A step that never ends does not hold Close, nor what is open, for ever.
func TestCloseGivesUpAStepThatHangs(t *testing.T) {
	before := closeTimeout
	closeTimeout = 50 * time.Millisecond
	defer func() { closeTimeout = before }()
	begun, hang := make(chan struct{}, 1), make(chan struct{})
	s, r := startEcho(t, func(*executor.Batch) {
		begun <- struct{}{}
		<-hang
	}), newRecord(t)
	if err := submit(s, "a", r, 5); err != nil {
		t.Fatal(err)
	}
	<-begun
	s.Stop(true, false)
	if err := s.Close(); !errors.Is(err, ErrStuck) {
		t.Errorf("close: %v", err)
	}
	if e := r.wait(); e.Reason != ReasonFailed || !errors.Is(e.Err, ErrStuck) {
		t.Errorf("ended %+v", e)
	}
	close(hang)
	<-s.collected
}

// Commands carry numbers: an older one that comes late changes nothing.
func TestAStaleCommandIsIgnored(t *testing.T) {
	s, r := startEcho(t, nil), newRecord(t)
	s.sys.Root.Send(s.scheduler, &messages.SetMode{Number: 10, Mode: messages.Mode_MODE_PAUSED})
	if err := submit(s, "a", r, 3); err != nil {
		t.Fatal(err)
	}
	s.sys.Root.Send(s.scheduler, &messages.SetMode{Number: 9, Mode: messages.Mode_MODE_RUNNING})
	select {
	case <-r.done:
		t.Fatal("a stale command let the engine run")
	case <-time.After(30 * time.Millisecond):
	}
	s.sys.Root.Send(s.scheduler, &messages.SetMode{Number: 11, Mode: messages.Mode_MODE_RUNNING})
	if e := r.wait(); e.Reason != ReasonLength {
		t.Errorf("ended %+v", e)
	}
}
