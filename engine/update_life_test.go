package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/sampling"
	"github.com/cbactor/cbactor/weights"
)

// Where memory holds one set, whoever calls Wake while it is exchanged waits.
func TestWakeWaitsForAnUpdate(t *testing.T) {
	e := spawnTiny(t, Config{Threads: 1, WeightSets: 1})
	var over atomic.Bool
	done := make(chan error)
	go func() {
		for !over.Load() {
			if err := e.Wake(t.Context()); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	var open []*Stream
	for range 4 {
		open = append(open, mustAdd(t, e, Request{PromptIDs: text(20), MaxNewTokens: 300, IgnoreEOS: true}))
	}
	sets := []*trained{newTrained(t, 1), newTrained(t, 2)}
	for i := range 10 {
		sets[i%2].update(t, e, fmt.Sprint("v", i+2), KVKeep)
	}
	over.Store(true)
	if err := <-done; err != nil {
		t.Error(err)
	}
	for _, s := range open {
		if out := s.Wait(t.Context()); out.FinishReason != FinishLength {
			t.Errorf("ended %s: %v", out.FinishReason, out.Err)
		}
	}
}

// What slept before an update sleeps after it, until it is woken.
func TestAnUpdateWakesNobody(t *testing.T) {
	for _, parts := range []Part{KV, Weights, KV | Weights} {
		e := spawnTiny(t, Config{Threads: 1, WeightSets: 1})
		if err := e.Sleep(t.Context(), parts); err != nil {
			t.Fatal(err)
		}
		newTrained(t, 2).update(t, e, "v2", KVKeep)
		if err := newTrained(t, 1).inPlace(t, e, "v3", KVKeep); err != nil {
			t.Fatal(err)
		}
		if s := e.Status(); s.Mode != "sleeping" || s.Asleep&parts != parts {
			t.Errorf("parts %d slept, now %+v", parts, s)
		}
		if err := e.Wake(t.Context()); err != nil {
			t.Fatal(err)
		}
		if out := greedy(t, e, text(9), 3); out.WeightVersions[0].Version != "v3" {
			t.Errorf("tokens of %v", out.WeightVersions)
		}
	}
}

// A stop begins, and Close ends the session, while another call holds life.
func TestAStopDoesNotWaitForAnUpdate(t *testing.T) {
	for _, keep := range []bool{true, false} {
		e := spawnTiny(t, Config{Threads: 1, NumBlocks: 32})
		e.life <- struct{}{}
		dead, cancel := context.WithCancel(t.Context())
		cancel()
		if err := e.Stop(dead, StopOptions{Hard: true, Keep: keep}); !errors.Is(err, context.Canceled) {
			t.Errorf("keep %t: %v", keep, err)
		}
		soon, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		if err := e.Join(soon); err != nil || e.Running() {
			t.Errorf("keep %t: it runs: %v", keep, err)
		}
		cancel()
		e.others()
	}
	e := spawnTiny(t, Config{Threads: 1, NumBlocks: 32})
	e.life <- struct{}{}
	closed := make(chan error)
	go func() { closed <- e.Close() }()
	select {
	case <-e.session.Load().freed:
	case <-time.After(10 * time.Second):
		t.Error("Close waits")
	}
	e.others()
	if err := <-closed; err != nil {
		t.Error(err)
	}
}

// A stop that waits for a Start ends the session that this one begins.
func TestAStopEndsWhatAStartBegins(t *testing.T) {
	for _, keep := range []bool{true, false} {
		e := spawnTiny(t, Config{Threads: 1, NumBlocks: 32})
		if err := e.Stop(t.Context(), StopOptions{Keep: keep}); err != nil {
			t.Fatal(err)
		}
		e.life <- struct{}{}
		soon, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		stopped := make(chan error)
		go func() { stopped <- e.Stop(soon, StopOptions{Keep: keep}) }()
		time.Sleep(20 * time.Millisecond) // most likely it waits by then; either way the session must end
		if s := e.session.Load(); keep {
			s.system.Resume()
		} else if err := e.again(t.Context(), s); err != nil {
			t.Error(err)
		}
		e.others()
		if err := <-stopped; err != nil || e.Running() {
			t.Errorf("keep %t: %v, it runs: %t", keep, err, e.Running())
		}
		cancel()
	}
}

// Hard stops in the middle of exchanging the only set lose neither the update nor the engine.
func TestStopsWhileTheOnlySetIsExchanged(t *testing.T) {
	e := spawnTiny(t, Config{Threads: 1, WeightSets: 1})
	w := newTrained(t, 1)
	for i := range 12 {
		for range 3 {
			mustAdd(t, e, Request{PromptIDs: text(20), MaxNewTokens: 300, IgnoreEOS: true})
		}
		committed := make(chan error)
		if i%3 == 2 {
			go func() { committed <- w.inPlace(t, e, fmt.Sprint("v", i+2), KVKeep) }()
		} else {
			u := w.begin(t, e, fmt.Sprint("v", i+2), KVKeep)
			if err := w.send(u); err != nil {
				t.Fatal(err)
			}
			go func() { committed <- u.Commit(t.Context()) }()
		}
		time.Sleep(time.Duration(i) * time.Millisecond / 2)
		if err := e.Stop(t.Context(), StopOptions{Hard: true, Keep: i%2 == 0}); err != nil {
			t.Fatal(err)
		}
		if err := <-committed; err != nil {
			t.Fatal(err)
		}
		if err := e.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		if out := greedy(t, e, text(9), 3); out.WeightVersions[0].Version != fmt.Sprint("v", i+2) {
			t.Errorf("tokens of %v", out.WeightVersions)
		}
	}
}

// A name is one version's, which has served; one that could not compute has none.
func TestNamesOfVersionsAreUsedOnce(t *testing.T) {
	e := spawnTiny(t, Config{Threads: 1, WeightSets: 2})
	w := newTrained(t, 1)
	fails := w.begin(t, e, "v2", KVKeep)
	s := e.session.Load()
	able := s.ex
	s.ex = unable{able.(executor.Loader)}
	if err := errors.Join(w.send(fails), fails.Commit(t.Context())); !errors.Is(err, errUnable) {
		t.Fatal(err)
	}
	s.ex = able
	w.update(t, e, "v3", KVKeep)
	if _, err := e.AddRequest(t.Context(), Request{PromptIDs: text(5), MinVersion: "v2"}); !errors.Is(err, ErrStale) {
		t.Errorf("a version that never served: %v", err)
	}
	newTrained(t, 2).update(t, e, "v2", KVKeep)
	if _, err := e.AddRequest(t.Context(), Request{PromptIDs: text(5), MaxNewTokens: 1, MinVersion: "v2"}); err != nil {
		t.Error(err)
	}
	for _, name := range []string{FirstVersion, "v3", "v2", strings.Repeat("v", 257)} {
		if _, err := e.Update(t.Context(), UpdateOptions{Version: name, Manifest: w.manifest}); !errors.Is(err, weights.ErrVersion) {
			t.Errorf("%.9q again: %v", name, err)
		}
	}
	if err := e.Rollback(t.Context(), "v3", KVKeep); err != nil {
		t.Error(err)
	}
}

var errUnable = errors.New("no more sets")

// unable is an executor that takes no other sets.
type unable struct{ executor.Loader }

func (unable) Load(context.Context, *weights.Set) error { return errUnable }

// An update whose context has ended does not keep others from theirs.
func TestAnUpdateEndsWithItsContext(t *testing.T) {
	e := spawnTiny(t, Config{Threads: 1})
	w := newTrained(t, 1)
	o := UpdateOptions{Version: "v2", Manifest: w.manifest}
	ctx, cancel := context.WithCancel(t.Context())
	u, err := e.Update(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.send(u); err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := e.Update(ctx, o); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that has ended: %v", err)
	}
	next, err := e.Update(t.Context(), o)
	for ; errors.Is(err, weights.ErrBusy); next, err = e.Update(t.Context(), o) {
		time.Sleep(time.Millisecond)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := u.Commit(t.Context()); !errors.Is(err, weights.ErrClosed) {
		t.Errorf("a commit of what was aborted: %v", err)
	}
	u.Abort()
	if err := errors.Join(w.send(next), next.Commit(t.Context())); err != nil || e.Version() != "v2" {
		t.Errorf("%q serves: %v", e.Version(), err)
	}
}

// A sleep that its caller gave up just as an update begins is nobody's: what is committed
// computes. One that lasts goes on.
func TestASleepGivenUpBeforeAnUpdate(t *testing.T) {
	e := spawnTiny(t, Config{Threads: 1, WeightSets: 1, NumBlocks: 64})
	sets := []*trained{newTrained(t, 1), newTrained(t, 2)}
	stride := 1
	if testing.Short() {
		stride = 3
	}
	for i := 0; i < 30; i += stride {
		w := sets[i%2]
		u := w.begin(t, e, fmt.Sprint("v", i+2), KVKeep)
		if err := w.send(u); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*20*time.Microsecond)
		slept := e.Sleep(ctx, KV|Weights)
		cancel()
		if err := u.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		if slept == nil {
			if e.Status().Mode != "sleeping" {
				t.Errorf("it is %s", e.Status().Mode)
			}
			if err := e.Wake(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		within, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		if out := mustAdd(t, e, Request{PromptIDs: text(9), MaxNewTokens: 2, IgnoreEOS: true}).Wait(within); out.FinishReason != FinishLength {
			t.Fatalf("%d: ended %s: %v, it is %+v", i, out.FinishReason, out.Err, e.Status())
		}
		cancel()
	}
}

// Close ends a commit where memory holds one set, and an update in place, that wait for a
// step: they say so.
func TestCloseEndsAnUpdate(t *testing.T) {
	w := newTrained(t, 1)
	for _, inPlace := range []bool{false, true} {
		e, stuck := spawnTiny(t, Config{Threads: 1, NumBlocks: 64, WeightSets: 1}), &blocked{begun: make(chan struct{}), end: make(chan struct{})}
		mustAdd(t, e, Request{PromptIDs: text(9), MaxNewTokens: 2, IgnoreEOS: true, Sampling: sampling.Params{Processor: stuck}})
		<-stuck.begun
		ended := make(chan error, 1)
		if inPlace {
			go func() { ended <- w.inPlace(t, e, "v2", KVKeep) }()
		} else {
			u := w.begin(t, e, "v2", KVKeep)
			if err := w.send(u); err != nil {
				t.Fatal(err)
			}
			go func() { ended <- u.Commit(t.Context()) }()
		}
		until(t, "it waits for the step", func() bool { return e.Status().Mode == "pausing" || named(e) > 1 })
		closed := make(chan error, 1)
		go func() { closed <- e.Close() }()
		if err := <-ended; !errors.Is(err, ErrClosed) {
			t.Errorf("in place %t: %v", inPlace, err)
		}
		close(stuck.end)
		if err := <-closed; err != nil {
			t.Error(err)
		}
	}
}

// Close beside a change of weights whose commit waits for a step ends it as closed, not as
// one that has failed: it may be in force.
func TestCloseBesideACommit(t *testing.T) {
	e, g := spawnGated(t, Config{Threads: 1, WeightSets: 2, PageSize: 8}, nil)
	newTrained(t, 1).update(t, e, "v2", KVKeep)
	g.left.Store(3)
	mustAdd(t, e, Request{PromptIDs: text(9), MaxNewTokens: 20, IgnoreEOS: true})
	<-g.reached
	before, ended := named(e), make(chan error, 1)
	go func() { ended <- e.Rollback(t.Context(), FirstVersion, KVKeep) }()
	until(t, "it waits for the step", func() bool { return named(e) > before })
	closed := make(chan error, 1)
	go func() { closed <- e.Close() }()
	if err := <-ended; !errors.Is(err, ErrClosed) || strings.Contains(err.Error(), "serves on") {
		t.Errorf("ended: %v", err)
	}
	g.open <- struct{}{}
	if err := <-closed; err != nil {
		t.Error(err)
	}
}

// blocked is a sampling.Processor that holds a step up.
type blocked struct {
	once       sync.Once
	begun, end chan struct{}
}

func (b *blocked) Process([]int32, int, []float32) error {
	b.once.Do(func() { close(b.begun) })
	<-b.end
	return nil
}

// named is how many epochs have a version's name.
func named(e *Engine) int {
	e.versions.mu.Lock()
	defer e.versions.mu.Unlock()
	return len(e.versions.names)
}
