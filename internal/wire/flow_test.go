package wire_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/cbactor/cbactor/internal/wire"
	"github.com/cbactor/cbactor/internal/wire/wiretest"
	"github.com/cbactor/cbactor/messages"
)

// Messages arrive once and in the order in which they were sent, both ways, however they
// are put together in frames.
func TestOrder(t *testing.T) {
	const n = 100_000
	s := serve(t, answer)
	c := s.dial(t, s.options())
	go func() {
		for i := range uint64(n) {
			c.send(&messages.Call{Number: i + 1})
		}
	}()
	for i := range uint64(n) {
		if r := next[*messages.Reply](c.owner); r.Number != i+1 {
			t.Fatalf("answer %d is to call %d", i+1, r.Number)
		}
	}
}

// Large messages and small ones, of several types, from several goroutines.
func TestOrderOfEachSender(t *testing.T) {
	const senders, each = 8, 500
	s := serve(t, nil)
	c := s.dial(t, s.options())
	next[*wire.Opened](s.engine)
	for sender := range uint64(senders) {
		go func() {
			for i := range uint64(each) {
				number := sender*each + i
				switch {
				case i%50 == 7:
					c.send(&messages.Call{Number: number, What: &messages.Call_PutChunk{PutChunk: &messages.PutChunk{Data: make([]byte, 20_000)}}})
				case i%3 == 0:
					c.send(&messages.Drop{Number: number})
				default:
					c.send(&messages.Call{Number: number})
				}
			}
		}()
	}
	var came [senders]uint64
	for range senders * each {
		number := next[interface{ GetNumber() uint64 }](s.engine).GetNumber()
		if sender := number / each; number%each != came[sender] {
			t.Fatalf("message %d of sender %d came when %d was due", number%each, sender, came[sender])
		} else {
			came[sender]++
		}
	}
}

func TestManyConnections(t *testing.T) {
	const limit, connections, calls = 60, 50, 40
	s := serve(t, answer, func(o *wire.ServerOptions) { o.Limits.Connections = limit })
	var group sync.WaitGroup
	for range connections {
		c := s.dial(t, s.options())
		group.Go(func() {
			for i := range uint64(calls) {
				c.send(&messages.Call{Number: i})
				if m := <-c.owner.came; m.(*messages.Reply).Number != i {
					t.Errorf("answer %v to call %d", m, i)
				}
			}
		})
	}
	group.Wait()
	if got := s.Stats(); got.Open != connections || got.Accepted != connections {
		t.Errorf("stats %+v", got)
	}
	extra := 0
	for range limit {
		o := s.options()
		o.Owner = s.engine.pid
		c, err := wire.Dial(t.Context(), s.system, o)
		if err != nil {
			break
		}
		extra++
		defer c.Close()
	}
	if extra != limit-connections {
		t.Errorf("%d connections besides %d", extra, connections)
	}
}

// A client that does not read is cut, and nobody waits for it or loses anything.
func TestSlowClientIsCut(t *testing.T) {
	const limit = 4 << 20
	slow := make(chan *actor.PID, 1)
	s := serve(t, answer, func(o *wire.ServerOptions) { o.Limits.Queue = limit })
	p := wiretest.NewProxy(t, s.Addr().String())
	o := s.options()
	o.Address = p.Addr()
	c := s.dial(t, o)
	slow <- next[*wire.Opened](s.engine).Client
	other := s.dial(t, s.options())
	next[*wire.Opened](s.engine)

	p.Freeze(true)
	pid := <-slow
	text := string(make([]byte, 10_000))
	var longest time.Duration
	for i := range uint64(3000) { // 30 MB: more than all buffers between
		s.system.Root.Send(pid, &messages.News{Text: text})
		begin := time.Now()
		other.send(&messages.Call{Number: i})
		if r := next[*messages.Reply](other.owner); r.Number != i {
			t.Fatalf("answer %d to call %d", r.Number, i)
		}
		longest = max(longest, time.Since(begin))
	}
	if closed := next[*wire.Closed](s.engine); closed.Client != pid || !errors.Is(closed.Err, wire.ErrSlow) {
		t.Errorf("closed with %v", closed.Err)
	}
	s.counts(t, 1, func(c wire.Stats) int64 { return c.Slow })
	t.Logf("longest round trip of the other client: %v", longest)
	p.Freeze(false)
	for {
		m := <-c.owner.came
		if closed, ok := m.(*wire.Closed); ok {
			if !errors.Is(closed.Err, wire.ErrSlow) {
				t.Errorf("the client is told %v", closed.Err)
			}
			break
		}
	}
}

// What an actor has not handled is bounded: its connection is not read meanwhile, others are.
func TestBusyActorHoldsItsSendersBack(t *testing.T) {
	const limit, size = 1 << 20, 10_000
	release := make(chan struct{})
	var handled atomic.Int64
	s := serve(t, func(c actor.Context) bool {
		if _, ok := c.Message().(*messages.Call); ok {
			<-release
			handled.Add(1)
		}
		return true
	}, func(o *wire.ServerOptions) { o.Limits.Unhandled = limit })
	c := s.dial(t, s.options())
	chunk := &messages.Call{What: &messages.Call_PutChunk{PutChunk: &messages.PutChunk{Data: make([]byte, size)}}}
	sent := 0
	for ; len(c.owner.came) == 0; sent++ { // until this side's queue is full, too
		if sent*size > 200<<20 {
			t.Fatalf("%d bytes are taken in while the actor handles nothing", sent*size)
		}
		if sent%100 == 0 {
			time.Sleep(5 * time.Millisecond) // so that the connection keeps up
		}
		c.send(chunk)
	}
	if err := c.ended(); !errors.Is(err, wire.ErrSlow) {
		t.Fatalf("the connection ends with %v", err)
	}
	close(release)
	deadline := time.Now().Add(20 * time.Second)
	for s.Stats().Open > 0 && time.Now().Before(deadline) {
		time.Sleep(time.Millisecond)
	}
	t.Logf("%d bytes sent, %d handled, limit %d", sent*size, handled.Load()*size, limit)
	if handled.Load() == 0 || handled.Load()*size > 2*limit {
		t.Errorf("%d bytes were taken in while the actor handled nothing, with a limit of %d", handled.Load()*size, limit)
	}
}

// Poisoned, a client is sent what was there before.
func TestPoisonEndsBehindMessages(t *testing.T) {
	for _, stop := range []string{"Poison", "Stop"} {
		t.Run(stop, func(t *testing.T) {
			s := serve(t, answer)
			c := s.dial(t, s.options())
			pid := next[*wire.Opened](s.engine).Client
			for i := range uint64(1000) {
				s.system.Root.Send(pid, &messages.Reply{Number: i})
			}
			if stop == "Stop" {
				s.system.Root.Stop(pid)
			} else {
				s.system.Root.Poison(pid)
			}
			s.system.Root.Send(pid, &messages.Reply{Number: 1 << 20}) // too late
			for i := range uint64(1000) {
				if r := next[*messages.Reply](c.owner); r.Number != i {
					t.Fatalf("answer %d, want %d", r.Number, i)
				}
			}
			if err := c.ended(); !errors.Is(err, wire.ErrEnded) {
				t.Errorf("the client is told %v", err)
			}
			if closed := next[*wire.Closed](s.engine); !errors.Is(closed.Err, wire.ErrEnded) {
				t.Errorf("the engine is told %v", closed.Err)
			}
		})
	}
}

// A message that is too large or no message ends the connection, and says so.
func TestWhatCannotBeSent(t *testing.T) {
	for name, m := range map[string]any{
		"too large":    &messages.News{Text: string(make([]byte, 4<<20+1))},
		"not UTF-8":    &messages.News{Text: "\xff"},
		"no message":   "text",
		"another type": &messages.Call{},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, answer)
			c := s.dial(t, s.options())
			s.system.Root.Send(next[*wire.Opened](s.engine).Client, m)
			closed := next[*wire.Closed](s.engine)
			if name == "another type" {
				if err := c.ended(); !errors.Is(err, wire.ErrProtocol) {
					t.Errorf("the client ends with %v", err)
				}
			} else if !errors.Is(closed.Err, wire.ErrProtocol) {
				t.Errorf("the engine is told %v", closed.Err)
			}
		})
	}
}

// When the actor of a connection ends, so does the connection; when the server closes, all do.
func TestEndOfActorsAndServers(t *testing.T) {
	system := newSystem(t)
	mortal := system.Root.Spawn(actor.PropsFromFunc(func(actor.Context) {}))
	s := serve(t, answer, func(o *wire.ServerOptions) {
		accept := o.Accept
		o.Accept = func(p wire.Peer) (*actor.PID, error) {
			if p.Address == "" || p.Identity != "" {
				return nil, fmt.Errorf("peer %+v", p)
			}
			return accept(p)
		}
	})
	c := s.dial(t, s.options())
	o := s.options()
	o.Owner = mortal
	if _, err := wire.Dial(t.Context(), system, o); err != nil {
		t.Fatal(err)
	}
	next[*wire.Opened](s.engine)
	opened := next[*wire.Opened](s.engine)
	if err := system.Root.StopFuture(mortal).Wait(); err != nil {
		t.Fatal(err)
	}
	if closed := next[*wire.Closed](s.engine); closed.Client != opened.Client {
		t.Error("another connection ends than that of the actor")
	}
	if _, err := wire.Dial(t.Context(), system, o); err == nil {
		t.Error("an actor that has ended can own a connection")
	}
	s.Close()
	if err := c.ended(); !errors.Is(err, wire.ErrEnded) {
		t.Errorf("the client is told %v", err)
	}
}

// A client that does not read does not keep a server from closing.
func TestCloseWithFrozenClient(t *testing.T) {
	s := serve(t, answer)
	p := wiretest.NewProxy(t, s.Addr().String())
	o := s.options()
	o.Address = p.Addr()
	c := s.dial(t, o)
	pid := next[*wire.Opened](s.engine).Client
	p.Freeze(true)
	for range 10 {
		s.system.Root.Send(pid, &messages.News{Text: string(make([]byte, 1<<20))})
	}
	begin := time.Now()
	s.Close()
	if took := time.Since(begin); took > 8*time.Second {
		t.Errorf("closing takes %v", took)
	}
	if closed := next[*wire.Closed](s.engine); !errors.Is(closed.Err, wire.ErrEnded) {
		t.Errorf("the engine is told %v", closed.Err)
	}
	p.Cut()
	c.ended() // whatever it is
}
