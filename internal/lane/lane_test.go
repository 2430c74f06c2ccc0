package lane_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/cbactor/cbactor/internal/lane"
)

type work int

type command int

func (command) ControlMessage() {}

// gate holds the actor in its Receive until release is closed.
type gate struct{ release <-chan struct{} }

// probe is an actor that writes down what it receives.
type probe struct {
	t        *testing.T
	system   *actor.ActorSystem
	pid      *actor.PID
	received chan any
}

func newProbe(t *testing.T, capacity int) *probe {
	p := &probe{t: t, system: actor.NewActorSystem(), received: make(chan any, capacity)}
	p.pid = p.system.Root.Spawn(actor.PropsFromFunc(func(c actor.Context) {
		switch m := c.Message().(type) {
		case gate:
			<-m.release
		case work, command, *actor.Started:
			p.received <- m
			if c.Sender() != nil {
				c.Respond(m)
			}
		}
	}, actor.WithMailbox(lane.Wrap(actor.Unbounded()))))
	t.Cleanup(func() {
		if err := p.system.Root.StopFuture(p.pid).Wait(); err != nil {
			t.Error(err)
		}
		p.system.Shutdown()
	})
	if _, ok := p.next().(*actor.Started); !ok {
		t.Fatal("something is received before Started")
	}
	return p
}

// next is what the actor received next.
func (p *probe) next() any {
	p.t.Helper()
	select {
	case m := <-p.received:
		return m
	case <-time.After(20 * time.Second):
		p.t.Fatal("nothing is received")
		return nil
	}
}

// hold keeps the actor busy until the answer is called.
func (p *probe) hold() (release func()) {
	c := make(chan struct{})
	p.system.Root.Send(p.pid, gate{c})
	return sync.OnceFunc(func() { close(c) })
}

func TestControlOvertakesBacklog(t *testing.T) {
	const backlog = 100_000
	for name, send := range map[string]func(p *probe, m any){
		"Send":          func(p *probe, m any) { p.system.Root.Send(p.pid, m) },
		"Request":       func(p *probe, m any) { p.system.Root.Request(p.pid, m) },
		"RequestFuture": func(p *probe, m any) { p.system.Root.RequestFuture(p.pid, m, time.Minute) },
	} {
		t.Run(name, func(t *testing.T) {
			p := newProbe(t, backlog+8)
			release := p.hold()
			for i := range backlog {
				p.system.Root.Send(p.pid, work(i))
			}
			send(p, command(1))
			send(p, command(2))
			release()
			for _, want := range []any{command(1), command(2)} {
				if got := p.next(); got != want {
					t.Fatalf("received %T %v, want %T %v", got, got, want, want)
				}
			}
			for i := range backlog {
				if got := p.next(); got != work(i) {
					t.Fatalf("received %v, want work %d", got, i)
				}
			}
		})
	}
}

// A requester has its answer: the sender travels with the message.
func TestControlKeepsItsSender(t *testing.T) {
	p := newProbe(t, 8)
	got, err := p.system.Root.RequestFuture(p.pid, command(7), time.Minute).Result()
	if err != nil || got != command(7) {
		t.Errorf("answer %v, %v", got, err)
	}
}

// Controls of each sender stay in order, sent from several goroutines at once.
func TestControlsStayInOrder(t *testing.T) {
	const senders, each = 4, 1000
	p := newProbe(t, senders*each*2)
	release := p.hold()
	var group sync.WaitGroup
	for s := range senders {
		group.Go(func() {
			for i := range each {
				p.system.Root.Send(p.pid, command(s*each+i))
				p.system.Root.Send(p.pid, work(s*each+i))
			}
			release() // so that sending and receiving overlap
		})
	}
	group.Wait()
	var commands, works [senders][]int
	for range 2 * senders * each {
		switch m := p.next().(type) {
		case command:
			commands[m/each] = append(commands[m/each], int(m))
		case work:
			works[m/each] = append(works[m/each], int(m))
		}
	}
	for s := range senders {
		if len(commands[s]) != each || !slices.IsSorted(commands[s]) {
			t.Errorf("sender %d: %d commands, sorted %v", s, len(commands[s]), slices.IsSorted(commands[s]))
		}
		if len(works[s]) != each || !slices.IsSorted(works[s]) {
			t.Errorf("sender %d: %d works, sorted %v", s, len(works[s]), slices.IsSorted(works[s]))
		}
	}
}

// The library's own stop is on the same lane: it drops the backlog, as ever.
func TestStopStillStops(t *testing.T) {
	p := newProbe(t, 2000)
	release := p.hold()
	for i := range 1000 {
		p.system.Root.Send(p.pid, work(i))
	}
	stopped := p.system.Root.StopFuture(p.pid)
	release()
	if err := stopped.Wait(); err != nil {
		t.Fatal(err)
	}
	if n := len(p.received); n != 0 {
		t.Errorf("%d of the backlog were received after the stop", n)
	}
}

// A message sent behind a control is handled behind it, also when both come while the
// mailbox turns from one queue to the other.
func TestNothingOvertakesControl(t *testing.T) {
	const rounds = 50_000
	p := newProbe(t, 8)
	for i := range rounds {
		p.system.Root.Send(p.pid, work(-1)) // wakes the mailbox
		p.system.Root.Send(p.pid, command(i))
		p.system.Root.Send(p.pid, work(i))
		handled := false
		for range 3 {
			switch m := p.next(); m {
			case command(i):
				handled = true
			case work(i):
				if !handled {
					t.Fatalf("message %d is handled before the control in front of it", i)
				}
			}
		}
	}
}
