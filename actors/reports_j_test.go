package actors

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/internal/obs"
	"github.com/cbactor/cbactor/sched"
)

// J1 (vllm#36964): four that run and three in line. A hard stop ends each once, as
// failed, when the step that runs is done, also when it comes twice; a soft one lets
// them complete, until a hard one comes behind it.
func TestReportJ1AStopEndsEverything(t *testing.T) {
	for name, stop := range map[string]func(*rig){
		"hard":       func(r *rig) { r.Stop(true, false) },
		"hard twice": func(r *rig) { r.Stop(true, false); r.after(5 * time.Millisecond); r.Stop(true, false) },
		"soft, then hard": func(r *rig) {
			r.Stop(false, false)
			r.after(100 * time.Millisecond)
			r.Stop(true, false)
		},
	} {
		inVirtualTime(t, executor.EchoConfig{Blocks: 64, Slots: 4}, 2, func(r *rig) {
			short := r.add(Submit{ID: "short", IDs: promptOf(20, 0), MaxNew: 6}, 0)[0]
			var all []*record
			for i := range 6 {
				all = append(all, r.add(Submit{ID: fmt.Sprint(i), IDs: promptOf(20, i), MaxNew: 500}, 0)[0])
			}
			r.after(3*stepTime + stepTime/2)
			began := time.Now()
			stop(r)
			<-r.Done()
			if took := time.Since(began); took > 100*time.Millisecond+4*stepTime {
				t.Errorf("%s: stopped after %v", name, took)
			}
			if r.Err() != nil {
				t.Errorf("%s: %v", name, r.Err())
			}
			for _, rec := range all {
				r.ended(name, rec, ReasonFailed, -1)
			}
			if name == "soft, then hard" {
				r.ended("one that is done in time", short, ReasonLength, 6)
			} else {
				r.ended(name, short, ReasonFailed, -1)
			}
		})
	}
}

// endsBadly is a sink whose End panics.
type endsBadly struct{ *record }

func (endsBadly) End(End) { panic("a sink that cannot end") }

// J3 (protoactor-go#774): what here can be slow to stop, or break while it does. Twenty
// requests run, a step takes 100 ms, five wait for room and five come behind the stop, and
// one breaks intake when it is ended. All is over in less than a second of virtual time: no actor is
// started again, every other request ends once, the ten are answered, and the executor is
// closed after all actors have ended.
func TestReportJ3AStopTakesNoTurns(t *testing.T) {
	for name, breaks := range map[string]bool{"a stop": false, "a crash in it": true} {
		t.Run(name, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { stopsAtOnce(t, breaks) }) })
	}
}

func stopsAtOnce(t *testing.T, breaks bool) {
	s := newStopping(t, breaks)
	began := time.Now()
	s.Stop(true, false)
	for i := range 5 {
		s.send(fmt.Sprint("behind ", i), newRecord(t), true)
	}
	for _, answer := range s.answers {
		select {
		case err := <-answer:
			if !errors.Is(err, ErrStopping) {
				t.Errorf("answered %v", err)
			}
		case <-s.Done(): // which is an answer, too
		}
	}
	if err := s.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if took := time.Since(began); took > time.Second {
		t.Errorf("stopped after %v", took)
	}
	if err := s.Err(); errors.Is(err, ErrCrashed) != breaks {
		t.Error(err)
	}
	for _, rec := range s.running {
		if e := rec.wait(); e.Reason != ReasonFailed {
			t.Errorf("ended %+v", e)
		}
	}
	if !s.ex.last {
		t.Error("the executor was closed while actors lived")
	}
	time.Sleep(2 * obs.DeadLetterPause) // the library's goroutine ends
}

// stopping is a System with twenty requests in a step and five in line, about to stop.
type stopping struct {
	*System
	ex      *closing
	running []*record
	answers []chan error // of those that do not run
}

// newStopping makes one. breaks has one of the requests that run break intake at its end.
func newStopping(t *testing.T, breaks bool) *stopping {
	ex := &closing{Executor: executor.NewEcho(executor.EchoConfig{Blocks: 256, Slots: 20, Context: 1024, Delay: func(*executor.Batch) { time.Sleep(100 * time.Millisecond) }})}
	s := &stopping{ex: ex, System: Start(Options{Executor: ex, Log: zerolog.Nop(),
		Sched:  sched.Config{MaxTokens: 64, MaxSlots: 20, PageSize: 16, Blocks: 256, Depth: 1},
		Limits: Limits{Vocab: 50021, MaxContext: 1024, CacheTokens: 4096, MaxOpen: 20}})}
	ex.done = s.Done()
	for i := range 20 {
		rec := newRecord(t)
		sink := Sink(rec)
		if breaks && i == 7 {
			sink = endsBadly{rec}
		} else {
			s.running = append(s.running, rec)
		}
		if err := <-s.send(fmt.Sprint(i), sink, false); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 5 {
		s.send(fmt.Sprint("in line ", i), newRecord(t), true)
	}
	time.Sleep(150 * time.Millisecond) // in a step
	return s
}

// send submits a request, and gives where its answer comes.
func (s *stopping) send(id string, sink Sink, wait bool) <-chan error {
	reply := make(chan error, 1)
	m := &Submit{ID: id, IDs: promptOf(3, 1), MaxNew: 900, Sink: sink, Reply: reply}
	if wait {
		m.Wait, s.answers = context.Background(), append(s.answers, reply)
	}
	s.Submit(m)
	return reply
}

// closing is an executor that notes whether it was closed when all actors had ended.
type closing struct {
	executor.Executor
	done <-chan struct{}
	last bool
}

func (c *closing) Close() error {
	select {
	case <-c.done:
		c.last = true
	default:
	}
	return c.Executor.Close()
}

// J4 (ollama#7805): two slots, 64 requests at a time, fifty rounds, with cancels at
// any moment: each of the 3,200 ends, and the time is that of the tokens.
func TestReportJ4NobodyWaitsForASlotForEver(t *testing.T) {
	inVirtualTime(t, executor.EchoConfig{Blocks: 64, Slots: 2}, 1, func(r *rig) {
		rnd := rand.New(rand.NewPCG(4, 4))
		for round := range 50 {
			var all []*record
			for i := range 64 {
				all = append(all, r.add(Submit{ID: fmt.Sprint(i), IDs: promptOf(1+rnd.IntN(30), i), MaxNew: 1 + rnd.IntN(8)}, 0)[0])
			}
			began := time.Now()
			for range 16 {
				time.Sleep(time.Duration(rnd.IntN(30)) * time.Millisecond)
				r.Cancel(fmt.Sprint(rnd.IntN(64)), nil)
			}
			tokens := 0
			for _, rec := range all {
				<-rec.done
				r.ended("a request", rec, rec.ends[0].Reason, -1)
				tokens += len(rec.tokens)
			}
			if most := 2 * time.Duration(tokens/2+64) * stepTime; time.Since(began) > most {
				t.Errorf("round %d took %v for %d tokens, at most %v", round, time.Since(began), tokens, most)
			}
		}
	})
}
