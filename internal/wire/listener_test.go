package wire_test

import (
	"net"
	"testing"
	"time"

	"github.com/cbactor/cbactor/messages"
)

// Those who say nothing keep nobody out, and end nobody who has said who he is.
func TestSilentStrangers(t *testing.T) {
	s := serve(t, answer)
	before := s.dial(t, s.options())
	for range 600 {
		conn, err := net.Dial("tcp", s.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	begin := time.Now()
	after := s.dial(t, s.options())
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
	for _, c := range []*client{before, after} {
		c.send(&messages.Call{Number: 7})
		if r := next[*messages.Reply](c.owner); r.Number != 7 {
			t.Errorf("%v", r)
		}
	}
}
