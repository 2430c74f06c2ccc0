package wire_test

import (
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/cbactor/cbactor/internal/wire"
	"github.com/cbactor/cbactor/internal/wire/wiretest"
	"github.com/cbactor/cbactor/messages"
)

// A peer that is there and silent, as a process that was stopped, is noticed by both sides.
func TestSilentPeerIsNoticed(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for the client's probe, 15 seconds")
	}
	t.Parallel()
	s := serve(t, answer, func(o *wire.ServerOptions) { o.Probe = time.Second })
	p := wiretest.NewProxy(t, s.Addr().String())
	o := s.options()
	o.Address = p.Addr()
	c := s.dial(t, o)
	next[*wire.Opened](s.engine)
	begin := time.Now()
	p.Freeze(true)
	if closed := next[*wire.Closed](s.engine); !errors.Is(closed.Err, wire.ErrLost) {
		t.Errorf("the engine is told %v", closed.Err)
	}
	if took := time.Since(begin); took < 500*time.Millisecond || took > 18*time.Second {
		t.Errorf("the server notices after %v", took)
	}
	if err := c.ended(); !errors.Is(err, wire.ErrLost) {
		t.Errorf("the client is told %v", err)
	}
	if took := time.Since(begin); took < 8*time.Second || took > 40*time.Second {
		t.Errorf("the client notices after %v", took)
	}
}

// A connection without a word for long is probed and stays.
func TestQuietConnectionStays(t *testing.T) {
	if testing.Short() {
		t.Skip("is quiet for 12 seconds")
	}
	t.Parallel()
	s := serve(t, answer, func(o *wire.ServerOptions) { o.Probe = time.Second })
	c := s.dial(t, s.options())
	select {
	case m := <-c.owner.came:
		t.Fatalf("received %v", m)
	case <-time.After(12 * time.Second):
	}
	c.send(&messages.Call{Number: 1})
	next[*messages.Reply](c.owner)
}

func TestCutIsToldToBoth(t *testing.T) {
	s := serve(t, answer)
	p := wiretest.NewProxy(t, s.Addr().String())
	o := s.options()
	o.Address = p.Addr()
	c := s.dial(t, o)
	next[*wire.Opened](s.engine)
	if n := p.Cut(); n != 1 {
		t.Errorf("%d connections are cut", n)
	}
	for who, err := range map[string]error{"client": c.ended(), "engine": next[*wire.Closed](s.engine).Err} {
		if !errors.Is(err, wire.ErrLost) {
			t.Errorf("the %s is told %v", who, err)
		}
	}
	p.Refuse(true)
	o.Owner = s.engine.pid
	for _, address := range []string{p.Addr(), "127.0.0.1:1"} {
		o.Address = address
		_, err := wire.Dial(t.Context(), s.clients, o)
		for _, final := range []error{wire.ErrInsecure, wire.ErrUntrusted, wire.ErrRefused, wire.ErrProtocol} {
			if err == nil || errors.Is(err, final) {
				t.Errorf("dialing %s where nothing answers: %v", address, err)
			}
		}
	}
}

// Delays and a thin network change nothing but the time.
func TestThinNetwork(t *testing.T) {
	s := serve(t, answer)
	p := wiretest.NewProxy(t, s.Addr().String())
	p.Delay(2 * time.Millisecond)
	p.Throttle(2 << 20)
	o := s.options()
	o.Address = p.Addr()
	c := s.dial(t, o)
	chunk := &messages.PutChunk{Data: make([]byte, 100_000)}
	for i := range uint64(10) {
		c.send(&messages.Call{Number: i, What: &messages.Call_PutChunk{PutChunk: chunk}})
	}
	for i := range uint64(10) {
		if r := next[*messages.Reply](c.owner); r.Number != i {
			t.Fatalf("answer %d to call %d", r.Number, i)
		}
	}
}

// A thousand connections leave nothing behind, however they end.
func TestMemoryOfConnections(t *testing.T) {
	s := serve(t, answer)
	p := wiretest.NewProxy(t, s.Addr().String())
	owner := spawn(t, s.clients, nil)
	round := func(n int) {
		for i := range n {
			o := s.options()
			o.Address, o.Owner = p.Addr(), owner.pid
			c, err := wire.Dial(t.Context(), s.clients, o)
			if err != nil {
				t.Fatal(err)
			}
			opened := next[*wire.Opened](s.engine)
			s.clients.Root.Send(c.Engine(), &messages.Call{Number: 1})
			next[*messages.Reply](owner)
			switch i % 3 {
			case 0:
				c.Close()
			case 1:
				p.Cut()
			case 2:
				s.system.Root.Stop(opened.Client)
			}
			next[*wire.Closed](owner)
			next[*wire.Closed](s.engine)
		}
	}
	connections := 1000
	if testing.Short() {
		connections /= 5
	}
	round(connections / 5)
	heap, goroutines := settle()
	round(connections)
	heap2, goroutines2 := settle()
	for try := 0; try < 10 && (heap2 > heap+1<<20 || goroutines2 > goroutines+20); try++ { // a busy machine takes longer
		heap2, goroutines2 = settle()
	}
	t.Logf("heap %d KiB, then %d KiB; goroutines %d, then %d", heap>>10, heap2>>10, goroutines, goroutines2)
	if heap2 > heap+1<<20 {
		t.Errorf("the heap grows from %d to %d bytes", heap, heap2)
	}
	if goroutines2 > goroutines+20 {
		t.Errorf("goroutines grow from %d to %d", goroutines, goroutines2)
	}
	if open := s.Stats().Open; open != 0 {
		t.Errorf("%d connections are open", open)
	}
}

// settle is the heap and the goroutines when what has ended is gone.
func settle() (heap uint64, goroutines int) {
	time.Sleep(1500 * time.Millisecond) // timers of what has ended
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc, runtime.NumGoroutine()
}
