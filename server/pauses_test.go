package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/executor"
)

// pausedTold is what routes of pauses answer.
type pausedTold struct {
	Status string
	Hold   *string
	Holds  int
	Paused bool `json:"is_paused"`
}

// control posts to a route of trainers, without a body if it is nil, and must succeed.
func (r *rig) control(path string, body, answer any) {
	r.t.Helper()
	if body == nil {
		body = ""
	}
	status, _, data := r.post(path, body)
	if status/100 != 2 {
		r.t.Fatalf("%s %v: %d: %s", path, body, status, data)
	}
	r.decode(data, answer)
}

func (r *rig) pause(query string) (told pausedTold) {
	r.t.Helper()
	r.control("/pause"+query, nil, &told)
	return told
}

func (r *rig) resume(query string) (told pausedTold) {
	r.t.Helper()
	r.control("/resume"+query, nil, &told)
	return told
}

func (r *rig) isPaused() (told pausedTold) {
	r.t.Helper()
	if status := r.get("/is_paused", &told); status != http.StatusOK {
		r.t.Fatalf("%d", status)
	}
	return told
}

// background sends a call that is waited for by the channel's reader.
func (r *rig) background(path string, body any) <-chan told {
	out := make(chan told, 1)
	go func() {
		defer close(out)
		resp, err := http.DefaultClient.Do(r.request(r.t.Context(), path, body))
		if err != nil {
			r.t.Error(err)
			return
		}
		data, err := io.ReadAll(resp.Body)
		if err != nil {
			r.t.Error(err)
		}
		drop(r.t, resp)
		out <- r.read(data)
	}()
	return out
}

func long(tokens int) object {
	return object{"prompt": count(5), "max_tokens": tokens, "ignore_eos": true, "return_token_ids": true}
}

// Without anything said a pause aborts what is open and refuses what is new, as vLLM's does.
func TestPauseAborts(t *testing.T) {
	r, _ := paced(t, 5*time.Millisecond, executor.EchoConfig{Blocks: 128})
	out := r.background(completionsPath, long(1000))
	r.until("it runs", func() bool { return r.engine.Metrics().Running == 1 })
	for range 2 { // the second time changes nothing
		if p := r.pause(""); p.Status != "paused" || p.Hold != nil || p.Holds != 1 {
			t.Errorf("%+v", p)
		}
	}
	if a := <-out; len(a.Choices) != 1 || a.Choices[0].FinishReason != "abort" || len(a.Choices[0].IDs) == 1000 {
		t.Errorf("%+v", a)
	}
	r.refused(completionsPath, long(1), 503, "", "engine_paused")
	if p := r.isPaused(); !p.Paused || p.Holds != 1 {
		t.Errorf("%+v", p)
	}
	for range 2 {
		if p := r.resume(""); p.Status != "resumed" || p.Holds != 0 {
			t.Errorf("%+v", p)
		}
	}
	if p := r.isPaused(); p.Paused || p.Holds != 0 {
		t.Errorf("%+v", p)
	}
	r.ask(completionsPath, long(1))
}

// mode=keep freezes what runs, and what is new waits unless it shall be refused.
func TestPauseKeeps(t *testing.T) {
	r, hurried := serveSlow(t)
	running := r.background(completionsPath, long(manyAsked))
	r.until("it runs", func() bool { return r.engine.Metrics().Running == 1 })
	r.pause("?mode=keep")
	before := r.engine.Metrics().Steps
	waiting := r.background(completionsPath, long(1))
	r.until("both are open", func() bool { return r.engine.Metrics().Open == 2 })
	time.Sleep(30 * time.Millisecond)
	if now := r.engine.Metrics().Steps; now != before {
		t.Errorf("%d steps during a pause", now-before)
	}
	hurried.Store(true)
	r.resume("")
	for a := range running {
		if len(a.Choices) != 1 || a.Choices[0].FinishReason != "length" || len(a.Choices[0].IDs) != manyAsked {
			t.Errorf("%+v", a)
		}
	}
	if a := <-waiting; len(a.Choices) != 1 {
		t.Errorf("%+v", a)
	}
	r.control("/pause", object{"mode": "keep", "refuse": true, "model": "tiny"}, &pausedTold{}) // as a body
	r.refused(completionsPath, long(1), 503, "", "engine_paused")
	r.resume("?model=tiny")
	r.pause("?mode=abort&refuse=False")
	waiting = r.background(completionsPath, long(1))
	r.until("it waits", func() bool { return r.engine.Metrics().Open == 1 })
	r.resume("")
	if a := <-waiting; len(a.Choices) != 1 {
		t.Errorf("%+v", a)
	}
}

// Who pauses what is paused gets what it asks for, beyond what the pause does already: what
// rested is aborted or ends first, and it is one pause nevertheless.
func TestPauseAgainForMore(t *testing.T) {
	for name, c := range map[string]struct {
		first, second string
		reason        string
		refuses       bool
		fresh         bool
	}{
		"abort":         {"/pause?mode=keep&clear_cache=false", "/pause?mode=abort", "abort", true, true},
		"AReaL":         {"/pause?mode=keep", "/areal_pause_generation", "abort", false, true},
		"SGLang":        {"/pause?mode=keep&refuse=true&clear_cache=false", "/pause_generation?mode=abort", "abort", true, true},
		"wait":          {"/pause?mode=keep&clear_cache=false", "/pause?mode=wait&clear_cache=false", "length", true, false},
		"refuse":        {"/pause?mode=keep", "/pause?mode=keep&refuse=true&clear_cache=false", "", true, true},
		"less":          {"/pause?mode=keep&refuse=true", "/pause?mode=keep&clear_cache=false", "", true, true},
		"waits, sleeps": {"/sleep?mode=keep&level=0", "/sleep?mode=wait&level=0", "length", true, false},
	} {
		t.Run(name, func(t *testing.T) {
			r, hurried := serveSlow(t)
			out := r.background(completionsPath, long(manyAsked))
			r.until("it runs", func() bool { return r.engine.Metrics().Running == 1 })
			r.control(c.first, nil, &object{})
			hurried.Store(true)
			r.control(c.second, nil, &object{})
			if c.reason != "" {
				if a := <-out; len(a.Choices) != 1 || a.Choices[0].FinishReason != c.reason {
					t.Errorf("%+v", a)
				}
			} else if open := r.engine.Metrics().Open; open != 1 {
				t.Errorf("%d are open", open)
			}
			if p := r.isPaused(); !p.Paused || p.Holds != 1 {
				t.Errorf("%+v", p)
			}
			if fresh := r.server.models[0].trainer.pauses.fresh(); fresh != c.fresh {
				t.Errorf("caches are computed again: %v", fresh)
			}
			if c.refuses {
				code := "engine_paused"
				if strings.HasPrefix(c.first, "/sleep") {
					code = "engine_asleep"
				}
				r.refused(completionsPath, long(1), 503, "", code)
			}
			r.resume("")
			r.control("/wake_up", nil, &object{})
			for range out {
			}
			if p := r.isPaused(); p.Paused || p.Holds != 0 {
				t.Errorf("%+v", p)
			}
		})
	}
}

// An abort ends what has come during the pause, too.
func TestPauseAbortsAgain(t *testing.T) {
	r := serveEcho(t, executor.EchoConfig{Blocks: 64}, engine.Config{}, Options{})
	r.pause("?mode=abort&refuse=false")
	waiting := r.background(completionsPath, long(3))
	r.until("it waits", func() bool { return r.engine.Metrics().Open == 1 })
	if p := r.pause("?mode=abort&refuse=false"); p.Holds != 1 {
		t.Errorf("%+v", p)
	}
	if a := <-waiting; len(a.Choices) != 1 || a.Choices[0].FinishReason != "abort" {
		t.Errorf("%+v", a)
	}
}

// Who asks for more and goes leaves the pause as it was; whoever resumes ends both.
func TestPauseAgainGivenUp(t *testing.T) {
	gate := make(chan struct{})
	step := func() { // lets the step that waits go on, if one does: nothing runs ahead
		select {
		case gate <- struct{}{}:
		default:
		}
	}
	r := serveEcho(t, executor.EchoConfig{Blocks: 64, Delay: func(*executor.Batch) { <-gate }}, engine.Config{}, Options{})
	finish := sync.OnceFunc(func() { close(gate) }) // lets all steps go on
	t.Cleanup(finish)                               // a failure leaves none waiting
	out := r.background(completionsPath, long(900))
	r.until("it runs", func() bool { step(); return r.engine.Metrics().Running == 1 })
	first := r.background("/pause?mode=keep", "")
	r.until("it is about to rest", func() bool { return r.isPaused().Paused })
	r.until("it rests", func() bool { step(); return len(first) > 0 })
	place := func() *held {
		p := &r.server.models[0].trainer.pauses
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.plain
	}
	old := place()
	wait := func() (leave func()) {
		ctx, cancel := context.WithCancel(t.Context())
		left := make(chan struct{})
		go func() {
			defer close(left)
			if resp, err := http.DefaultClient.Do(r.request(ctx, "/pause?mode=wait", "")); err == nil {
				drop(t, resp)
			}
		}()
		r.until("it waits", func() bool { return place() != old && place().waited() && r.isPaused().Holds == 1 })
		return func() { cancel(); <-left }
	}
	wait()()
	r.until("it rests as before", func() bool {
		step()
		h := place()
		return h != nil && !h.waited() && h.Hold != nil && h.options.mode == engine.PauseKeep
	})
	if a := r.engine.Metrics(); a.Open != 1 || r.isPaused().Holds != 1 {
		t.Errorf("%+v", a)
	}
	old = place()
	leave := wait()
	defer leave()
	if p := r.resume(""); p.Holds != 0 {
		t.Errorf("%+v", p)
	}
	finish()
	if a := <-out; len(a.Choices) != 1 || a.Choices[0].FinishReason != "length" {
		t.Errorf("%+v", a)
	}
}

// slow is an engine whose first pause never begins.
type slow struct {
	engine.API
	asked atomic.Int32
}

func (e *slow) Pause(ctx context.Context, o engine.PauseOptions) (engine.Hold, error) {
	if e.asked.Add(1) == 1 {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return e.API.Pause(ctx, o)
}

// looked is a context that tells when somebody waits for its end.
type looked struct {
	context.Context
	once sync.Once
	at   chan struct{}
}

func (c *looked) Done() <-chan struct{} {
	c.once.Do(func() { close(c.at) })
	return c.Context.Done()
}

// Who has joined somebody's wait takes the pause when that one goes.
func TestPauseJoinedAndLeft(t *testing.T) {
	r := serveEcho(t, executor.EchoConfig{}, engine.Config{}, Options{})
	e, p := &slow{API: r.engine}, &pauses{}
	ctx, leave := context.WithCancel(t.Context())
	take := func(ctx context.Context) <-chan error {
		done := make(chan error, 1)
		go func() {
			_, err := p.takeOne(ctx, t.Context(), e, pauseOptions{mode: engine.PauseWait}, &p.plain)
			done <- err
		}()
		return done
	}
	first := take(ctx)
	r.until("one waits", func() bool { return e.asked.Load() == 1 })
	joined := &looked{Context: t.Context(), at: make(chan struct{})}
	second := take(joined)
	<-joined.at
	leave()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if err := <-second; err != nil || !r.isPaused().Paused {
		t.Errorf("%v", err)
	}
}

// A pause that ends with its lease leaves nothing behind.
func TestPauseLeavesNothing(t *testing.T) {
	r := serveEcho(t, executor.EchoConfig{}, engine.Config{}, Options{})
	p := &r.server.models[0].trainer.pauses
	noted := func() (n int, one *held) {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, h := range p.named {
			one = h
		}
		return len(p.named), one
	}
	r.pause("?mode=keep&lease=3")
	_, old := noted()
	r.until("the lease has ended", func() bool { return !r.isPaused().Paused })
	r.pause("?mode=keep&lease=60")
	if n, _ := noted(); old.ctx.Err() == nil || n != 1 {
		t.Errorf("its context goes on, and %d are noted", n)
	}
}

// A pause with a lease is one of its own, and ends by itself. What takes a busy machine longer than
// a lease shows nothing: then there is another try, with a longer one.
func TestPauseLease(t *testing.T) {
	r := serveEcho(t, executor.EchoConfig{}, engine.Config{}, Options{})
	r.pause("?mode=keep")
	p := r.pause("?mode=keep&lease=60")
	if p.Hold == nil || p.Holds != 2 {
		t.Fatalf("%+v", p)
	}
	if other := r.resume(""); other.Status != "paused" || other.Holds != 1 {
		t.Errorf("somebody holds it: %+v", other)
	}
	r.resume("?hold=" + *p.Hold)
	goes := func(lease time.Duration) bool {
		p = r.pause(fmt.Sprintf("?mode=keep&lease=%g", lease.Seconds()))
		if p.Hold == nil {
			t.Fatalf("%+v", p)
		}
		for end := time.Now().Add(lease * 3 / 2); time.Now().Before(end); time.Sleep(lease / 50) {
			status, _, data := r.post("/pause?hold="+*p.Hold, "")
			var again pausedTold
			r.decode(data, &again)
			if status != http.StatusOK || again.Hold == nil || *again.Hold != *p.Hold || again.Holds != 1 {
				t.Logf("with a lease of %v: %d %s", lease, status, data)
				return false
			}
		}
		return true
	}
	lease := time.Second
	for !goes(lease) {
		if lease *= 2; lease > 8*time.Second {
			t.Error("its lease does not begin again")
			break
		}
	}
	r.until("the lease has ended", func() bool { return !r.isPaused().Paused })
	r.ask(completionsPath, long(1))
	r.refused("/pause?hold="+*p.Hold, "", 404, "hold", "hold_lost")
	if p := r.resume("?hold=" + *p.Hold); p.Status != "resumed" {
		t.Errorf("%+v", p)
	}
	p = r.pause("?lease=60")
	if p := r.resume("?hold=" + *p.Hold); p.Status != "resumed" || p.Holds != 0 {
		t.Errorf("%+v", p)
	}
	for range maxHolds {
		r.pause("?mode=keep&lease=60")
	}
	r.refused("/pause?lease=60", "", 429, "", "too_many_holds")
}

// Who has paused and waits for what is open does so together with others who ask, until it
// is released.
func TestPauseWaits(t *testing.T) {
	gate := make(chan struct{})
	r := serveEcho(t, executor.EchoConfig{Blocks: 64, Delay: func(*executor.Batch) { <-gate }}, engine.Config{}, Options{})
	out := r.background(completionsPath, long(3))
	r.until("it runs", func() bool { return r.engine.Metrics().Open == 1 })

	ctx, leave := context.WithCancel(t.Context())
	left := make(chan error, 1)
	go func() {
		resp, err := http.DefaultClient.Do(r.request(ctx, "/pause?mode=wait", ""))
		if err == nil {
			drop(t, resp)
		}
		left <- err
	}()
	r.until("one waits", func() bool { return r.isPaused().Holds == 1 })
	second := r.background("/pause?mode=wait", "")
	time.Sleep(50 * time.Millisecond) // for it to wait, of which nothing tells
	leave()                           // the second one goes on without the first
	if err := <-left; err == nil {
		t.Error("the first was answered")
	}
	r.until("the second holds", func() bool { return r.isPaused().Paused })
	r.until("the second is answered", func() bool { r.resume(""); return len(second) > 0 }) // it may take the pause behind the first resume
	if a := <-second; a.Error != nil && value(a.Error.Code) != "pause_released" {
		t.Errorf("%+v", a.Error)
	}
	r.resume("")
	third := r.background("/pause?mode=wait", "")
	r.until("it waits", func() bool { return r.isPaused().Holds == 1 })
	close(gate)
	if a := <-out; len(a.Choices) != 1 || len(a.Choices[0].IDs) != 3 {
		t.Errorf("%+v", a)
	}
	if a := <-third; a.Error != nil || !r.isPaused().Paused {
		t.Errorf("%+v", a)
	}
}

func TestPauseRefuses(t *testing.T) {
	r := serveEcho(t, executor.EchoConfig{}, engine.Config{}, Options{})
	for query, param := range map[string]string{
		"?mode=freeze": "mode", "?lease=0": "lease", "?lease=-1": "lease", "?lease=1e9": "lease", "?lease=soon": "lease", "?lease=NaN": "lease",
		"?refuse=perhaps": "refuse", "?clear_cache=2": "clear_cache", "?hold=x&lease=3": "hold", "?hold=x&mode=keep": "hold",
	} {
		r.refused("/pause"+query, "", 400, param, "invalid_value")
	}
	r.refused("/pause", object{"mode": 3}, 400, "mode", "invalid_value")
	r.refused("/pause?model=other", "", 404, "model", "model_not_found")
	r.refused("/pause?hold=x", "", 404, "hold", "hold_lost")
	if r.isPaused().Paused {
		t.Error("it is paused")
	}
	if err := r.engine.Stop(t.Context(), engine.StopOptions{}); err != nil {
		t.Fatal(err)
	}
	r.refused("/pause", "", 503, "", "engine_not_running")
}

// The end of a server ends the pauses that it holds.
func TestPausesEndWithTheServer(t *testing.T) {
	r := serveEcho(t, executor.EchoConfig{}, engine.Config{}, Options{})
	r.pause("?mode=keep")
	r.pause("?mode=keep&lease=60")
	r.server.Drain(t.Context())
	r.until("nobody holds it", func() bool { return r.engine.Status().Holders == 0 })
	r.refused("/pause", "", 503, "", "server_shutdown")
}

// Each of several models is paused by itself.
func TestPauseOfOneModel(t *testing.T) {
	r := serveEcho(t, executor.EchoConfig{}, engine.Config{}, Options{})
	other := serveEcho(t, executor.EchoConfig{}, engine.Config{}, Options{})
	two := other.server.models[0]
	two.Name = "two"
	s, err := New(Options{Models: append(r.server.models[:1:1], two)})
	if err != nil {
		t.Fatal(err)
	}
	r.serveBy(s)
	r.refused("/pause", "", 400, "model", "invalid_value")
	r.pause("?model=two")
	if r.engine.Status().Holders != 0 || other.engine.Status().Holders != 1 {
		t.Error("another model is paused")
	}
	if message := r.refused(completionsPath, object{"model": "two", "prompt": "a"}, 503, "", "engine_paused"); !strings.Contains(message, "paused") {
		t.Error(message)
	}
	r.ask(completionsPath, object{"model": "tiny", "prompt": "a"})
}
