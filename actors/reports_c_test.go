package actors

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/cbactor/cbactor/executor"
)

// C1 (llama.cpp#24496): of 1000 tokens, cancelled after five. No more than two further
// steps run for it, and one that needs every block is not delayed.
func TestReportC1ACancelStopsGeneration(t *testing.T) {
	for depth := 1; depth <= 2; depth++ {
		inVirtualTime(t, executor.EchoConfig{Blocks: 64}, depth, func(r *rig) {
			rec := r.add(Submit{ID: "a", IDs: promptOf(20, 1), MaxNew: 1000}, 0)[0]
			r.after(5*stepTime + stepTime/2)
			if rec.mu.Lock(); len(rec.tokens) != 5 {
				t.Errorf("depth %d: %d tokens", depth, len(rec.tokens))
			}
			rec.mu.Unlock()
			r.Cancel("a", nil)
			ran := r.steps()
			r.after(time.Second)
			r.ended("the cancelled one", rec, ReasonCancelled, 5)
			if n := r.steps() - ran; n > 2 {
				t.Errorf("depth %d: %d steps after the cancel", depth, n)
			}
			next := r.add(Submit{ID: "b", IDs: promptOf(64*16, 2), MaxNew: 1}, 0)[0]
			r.after(17 * stepTime) // 16 chunks of 64
			r.ended("the next one", next, ReasonLength, 1)
		})
	}
}

// C3 (ollama#11889): a prompt of 100 chunks, cancelled in the third. No more than
// five run; what they computed is found when the prompt comes again, and its tokens
// are right.
func TestReportC3ACancelStopsALongPrompt(t *testing.T) {
	for depth := 1; depth <= 2; depth++ {
		inVirtualTime(t, executor.EchoConfig{Blocks: 128, Tokens: 16}, depth, func(r *rig) {
			rec := r.add(Submit{ID: "a", IDs: promptOf(1600, 1), MaxNew: 4}, 0)[0]
			r.after(2*stepTime + stepTime/2)
			r.Cancel("a", nil)
			r.after(time.Second)
			r.ended("the cancelled one", rec, ReasonCancelled, 0)
			chunks := r.steps()
			if chunks > 5 {
				t.Errorf("depth %d: %d steps", depth, chunks)
			}
			again := r.add(Submit{ID: "a", IDs: promptOf(1600, 1), MaxNew: 4}, 0)[0]
			r.after(2 * time.Second)
			r.ended("the same again", again, ReasonLength, 4)
			if cached := again.ends[0].Cached; cached < 2*16 || cached > chunks*16 || cached%16 != 0 {
				t.Errorf("depth %d: %d tokens were found of %d steps", depth, cached, chunks)
			}
			if want := executor.EchoRef(promptOf(1600, 1), 4, 50021, 1); !slices.Equal(again.tokens, want) {
				t.Errorf("depth %d: got %v, want %v", depth, again.tokens, want)
			}
		})
	}
}

// C4 (lmdeploy#1788): 500 requests, cancelled before they are known, in line, or after
// one to three tokens. Afterwards a normal one takes as long as before, nothing is
// open, no goroutine is left, and no message goes to nobody.
func TestReportC4ManyCancels(t *testing.T) {
	inVirtualTime(t, executor.EchoConfig{Blocks: 16, Slots: 4}, 2, func(r *rig) {
		var dead atomic.Int64
		r.sys.EventStream.Subscribe(func(m any) {
			if _, ok := m.(*actor.DeadLetterEvent); ok {
				dead.Add(1)
			}
		})
		normal := func(id string) time.Duration {
			began := time.Now()
			<-r.add(Submit{ID: id, IDs: promptOf(40, 1), MaxNew: 8}, 0)[0].done
			took := time.Since(began)
			r.after(time.Second)
			return took
		}
		first, goroutines := normal("first"), runtime.NumGoroutine()
		rnd := rand.New(rand.NewPCG(4, 4))
		for i := range 500 {
			id := fmt.Sprint("r", i)
			if i%5 == 0 {
				r.Cancel(id, nil) // of nobody yet
			}
			rec := r.add(Submit{ID: id, IDs: promptOf(20, i), MaxNew: 50}, 0)[0]
			time.Sleep(time.Duration(rnd.IntN(4)) * stepTime)
			r.Cancel(id, rec)
			<-rec.done
			r.ended(id, rec, ReasonCancelled, -1)
		}
		r.after(time.Second) // the steps handed over are done
		if last := normal("last"); last > first {
			t.Errorf("a request took %v at first and %v after the others", first, last)
		}
		if n := runtime.NumGoroutine(); n > goroutines {
			t.Errorf("%d goroutines, %d before", n, goroutines)
		}
		if n := dead.Load(); n > 0 {
			t.Errorf("%d messages to nobody", n)
		}
		whole := r.add(Submit{ID: "whole", IDs: promptOf(256, 1), MaxNew: 1}, 0)[0]
		r.after(time.Second)
		r.ended("one that needs every block", whole, ReasonLength, 1)
	})
}
