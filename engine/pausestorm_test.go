package engine

import (
	"bytes"
	"context"
	"errors"
	commandline "flag"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/weights"
)

var pauseStorms = commandline.Int("pause-storms", 3, "seeds of TestPauseStorm")

// A thousand requests, added, cancelled and read in every style by sixteen goroutines,
// while others pause in every mode, compute logits, let the engine sleep, update its
// weights, go back to those before, write them under a hold, stop it hard and soft and
// start it again: no call returns behind its deadline, each accepted request ends once
// with the tokens of the weights that it names, and at last nothing is left. Time is
// virtual, so that nothing but a call that waits for what never comes is late.
func TestPauseStorm(t *testing.T) {
	const requests, workers, controllers = 1000, 16, 4
	first := rand.Uint64()
	for i := range *pauseStorms {
		seed := first + uint64(i)
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := rand.New(rand.NewPCG(seed, 0))
				step := time.Duration(50+r.IntN(200)) * time.Microsecond
				t.Cleanup(func() { time.Sleep(time.Second) }) // what the actor library started for late messages ends
				s := newStorm(t, r, requests, func(*executor.Batch) { time.Sleep(step) })
				c := openLlama(t)
				log := changing(t, s.engine, c.Config, &maker{weights: llamaSet(t, c)})
				newPauseStorm(s, log, echoNext).run(seed, workers, controllers)
			})
		})
	}
}

// pauseStorm is a storm with controllers.
type pauseStorm struct {
	*storm
	controllers sync.WaitGroup
	over        chan struct{} // closed when the workers have done

	counting sync.Mutex
	calls    map[string]int

	log   *bytes.Buffer // of all requests
	next  nextOf
	norm  weights.Tensor // what updates change
	named atomic.Int64   // versions
	other bool           // sessions may have executors of their own
}

func newPauseStorm(s *storm, log *bytes.Buffer, next nextOf) *pauseStorm {
	p := &pauseStorm{storm: s, over: make(chan struct{}), calls: map[string]int{}, log: log, next: next}
	p.norm, _ = s.engine.maker.weights.Tensor("model.norm.weight")
	p.norm.Data = bytes.Clone(p.norm.Data) // an update in place writes where it lies
	s.changing = true
	return p
}

// deadline is what every call of a controller is given, those without a context, too.
const deadline = 10 * time.Second

// run lets loose all, waits for them, and looks what became of them.
func (p *pauseStorm) run(seed uint64, workers, controllers int) {
	for w := range workers {
		r := rand.New(rand.NewPCG(seed, uint64(1+w)))
		p.workers.Go(func() {
			for p.left.Add(-1) >= 0 {
				time.Sleep(time.Duration(r.IntN(2000)) * time.Microsecond)
				p.styles()[r.IntN(len(p.styles()))](r)
			}
		})
	}
	for c := range controllers {
		r := rand.New(rand.NewPCG(seed, uint64(1000+c)))
		p.controllers.Go(func() { p.control(r) })
	}
	collected, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(collected)
		p.collect(over)
	}()
	p.workers.Wait()
	close(p.over)
	p.controllers.Wait()
	synctest.Wait() // a hold whose context has ended is left without anybody waiting
	if s := p.engine.Status(); s.Holders != 0 || s.Asleep != 0 {
		p.t.Errorf("it is %+v", s)
	}
	p.call("stop", func() error {
		return p.engine.Stop(context.Background(), StopOptions{Hard: true, Keep: true})
	})
	close(over)
	<-collected
	time.Sleep(time.Second) // handlers are told on their own time
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, n := range p.ends {
		if n != 1 || p.accepted[id] == nil {
			p.t.Errorf("%s ended %d times, accepted: %t", id, n, p.accepted[id] != nil)
		}
	}
	if n := len(p.engine.requests.byID); n != 0 || len(p.ends) != len(p.accepted) {
		p.t.Errorf("%d requests are still there; %d were accepted, %d ended", n, len(p.accepted), len(p.ends))
	}
	p.call("close", p.engine.Close)
	sequences, epochs := followsVersions(p.t, p.log, p.next)
	p.t.Logf("%d accepted, %d began, ended as %v; tokens by %d epochs; calls %v", len(p.accepted), sequences, p.reasons, epochs, p.calls)
}

// collect reads what nobody asks for by name, until it is over and nothing is left.
func (p *pauseStorm) collect(over <-chan struct{}) {
	for last := false; ; {
		select {
		case <-over:
			last = true
		default:
		}
		out, err := p.engine.NextResult(context.Background())
		switch {
		case !errors.Is(err, io.EOF):
			p.ended(out, err)
		case last:
			return
		default:
			time.Sleep(time.Millisecond) // between two sessions
		}
	}
}

// control makes calls until the workers have done.
func (p *pauseStorm) control(r *rand.Rand) {
	moves := []func(context.Context, *rand.Rand){p.pause, p.pause, p.pause, p.pause, p.pause, p.sleep, p.sleep, p.sleep, p.wake, p.stop, p.update, p.update, p.update, p.update, p.rollback, p.rollback}
	for {
		select {
		case <-p.over:
			return
		case <-time.After(time.Duration(r.IntN(8000)) * time.Microsecond):
		}
		ctx, cancel := context.WithTimeout(context.Background(), deadline)
		moves[r.IntN(len(moves))](ctx, r)
		cancel()
	}
}

// call makes a call, and notes that it was answered, rightly. One that hangs is told of
// at its deadline, even if it never returns.
func (p *pauseStorm) call(name string, fn func() error) bool {
	hangs := time.AfterFunc(deadline+time.Second, func() { p.t.Errorf("%s: no answer", name) })
	err := fn()
	hangs.Stop()
	p.counting.Lock()
	defer p.counting.Unlock()
	p.calls[name]++
	if err == nil {
		return true
	}
	for _, class := range []error{ErrUnavailable, ErrStopped, context.Canceled, weights.ErrBusy, weights.ErrVersion, weights.ErrClosed, weights.ErrInUse} {
		if errors.Is(err, class) {
			p.calls[name+": "+class.Error()]++
			return false
		}
	}
	p.t.Errorf("%s: %v", name, err)
	return false
}

// pause holds a pause for a while, and leaves it in some way.
func (p *pauseStorm) pause(ctx context.Context, r *rand.Rand) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if r.IntN(5) == 0 {
		time.AfterFunc(time.Duration(r.IntN(3000))*time.Microsecond, cancel)
	}
	o := PauseOptions{Mode: PauseMode(r.IntN(3)), Refuse: r.IntN(4) == 0, Lease: time.Duration(r.IntN(3)*r.IntN(2000)) * time.Microsecond}
	if o.Mode == PauseAbort && r.IntN(3) > 0 {
		o.Mode = PauseKeep // else little comes to its end
	}
	var h Hold
	if !p.call(fmt.Sprint("pause ", o.Mode), func() (err error) { h, err = p.engine.Pause(ctx, o); return err }) {
		return
	}
	for range r.IntN(3) {
		time.Sleep(time.Duration(r.IntN(1000)) * time.Microsecond)
		if r.IntN(2) == 0 {
			p.call("renew", h.Renew)
			continue
		}
		var logits []float32
		asked := p.ids(1+r.IntN(100), r.IntN(8))
		if p.call("logits", func() (err error) { logits, err = h.Logits(ctx, asked); return err }) && len(logits) != p.engine.Info().Vocab {
			p.t.Errorf("%d logits", len(logits))
		}
	}
	version := ""
	if r.IntN(4) == 0 {
		version = p.write(ctx, h, r)
	}
	switch r.IntN(3) {
	case 0:
		cancel()
		<-h.Done()
	default:
		p.call("release", func() error { return h.Release(version) })
	}
}

func (p *pauseStorm) sleep(ctx context.Context, r *rand.Rand) {
	part := Part(1 + r.IntN(3))
	p.call("sleep", func() error { return p.engine.Sleep(ctx, part) })
	time.Sleep(time.Duration(r.IntN(2000)) * time.Microsecond)
	ctx, cancel := context.WithTimeout(context.Background(), deadline) // it must not sleep at the end, however long that took
	defer cancel()
	for !p.call("wake", func() error { return p.engine.Wake(ctx) }) {
		if ctx.Err() != nil {
			p.t.Error("nothing wakes it")
			return
		}
	}
}

// wake wakes whoever sleeps, or is about to.
func (p *pauseStorm) wake(ctx context.Context, _ *rand.Rand) {
	p.call("wake", func() error { return p.engine.Wake(ctx) })
}

func (p *pauseStorm) stop(ctx context.Context, r *rand.Rand) {
	o := StopOptions{Hard: r.IntN(2) == 0, Keep: !p.other || r.IntN(2) == 0, Async: r.IntN(3) == 0}
	p.call("stop", func() error { return p.engine.Stop(ctx, o) })
	time.Sleep(time.Duration(r.IntN(1000)) * time.Microsecond)
	p.call("start", func() error { return p.engine.Start(ctx) })
}
