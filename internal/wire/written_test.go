package wire_test

import (
	"testing"
	"time"

	"github.com/cbactor/cbactor/internal/wire"
	"github.com/cbactor/cbactor/internal/wire/wiretest"
	"github.com/cbactor/cbactor/messages"
)

// An actor hears that what it has sent is written, when it is, and in order.
func TestWritten(t *testing.T) {
	const size, many = 1 << 20, 30 // more than all buffers between
	s := serve(t, nil, func(o *wire.ServerOptions) { o.Limits.Queue = 2 * many * size })
	p := wiretest.NewProxy(t, s.Addr().String())
	o := s.options()
	o.Address = p.Addr()
	c := s.dial(t, o)
	pid := next[*wire.Opened](s.engine).Client
	s.system.Root.Send(pid, &wire.Written{Client: pid, Bytes: 0})
	if w := next[*wire.Written](s.engine); w.Bytes != 0 || w.Client != pid {
		t.Errorf("%v", w)
	}
	p.Freeze(true)
	for i := range many {
		s.system.Root.Send(pid, &messages.News{Offset: uint32(i), Text: string(make([]byte, size))})
		s.system.Root.Send(pid, &wire.Written{Client: pid, Bytes: i + 1})
	}
	time.Sleep(50 * time.Millisecond)
	if n := len(s.engine.came); n == many {
		t.Error("all is written to a client that does not read")
	}
	p.Freeze(false)
	for i := range many {
		if w := next[*wire.Written](s.engine); w.Bytes != i+1 {
			t.Fatalf("%d is written, want %d", w.Bytes, i+1)
		}
		if m := next[*messages.News](c.owner); m.GetOffset() != uint32(i) || len(m.GetText()) != size {
			t.Fatalf("news from %d on come, want %d", m.GetOffset(), i)
		}
	}
}
