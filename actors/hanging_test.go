package actors

import (
	"errors"
	"testing"
	"time"

	"github.com/cbactor/cbactor/executor"
)

// hanging blocks in a matcher, once it has said so.
type hanging struct{ begun, until chan struct{} }

func (h hanging) Match([]int32) int {
	select {
	case h.begun <- struct{}{}:
	default:
	}
	<-h.until
	return -1
}

// A matcher that blocks holds up all requests, but not Close, which says so. What is
// open ends once it returns.
func TestCloseDoesNotWaitForAMatcher(t *testing.T) {
	before := closeTimeout
	closeTimeout = 50 * time.Millisecond
	defer func() { closeTimeout = before }()
	h := hanging{make(chan struct{}, 1), make(chan struct{})}
	s, r := startEcho(t, func(*executor.Batch) { time.Sleep(time.Millisecond) }), newRecord(t)
	reply := make(chan error, 1)
	s.Submit(&Submit{ID: "a", IDs: promptOf(5, 1), MaxNew: 900, Sink: r, Reply: reply, Stop: func() Matcher { return h }})
	if err := <-reply; err != nil {
		t.Fatal(err)
	}
	<-h.begun
	s.Stop(true, false)
	closed := make(chan error, 2)
	for range 2 {
		go func() { closed <- s.Close() }()
	}
	for range 2 {
		select {
		case err := <-closed:
			if !errors.Is(err, ErrStuck) {
				t.Errorf("close: %v", err)
			}
		case <-time.After(5 * time.Second):
			t.Fatal("Close still waits, 100 times its limit later")
		}
	}
	close(h.until)
	<-s.Done()
	if e := r.wait(); e.Reason != ReasonFailed || !errors.Is(e.Err, ErrStuck) && !errors.Is(e.Err, ErrStopped) {
		t.Errorf("ended %+v", e)
	}
}

// What makes a matcher is called on the caller's goroutine: while it blocks others are
// served.
func TestWhatMakesAMatcherHoldsUpNobodyElse(t *testing.T) {
	h := hanging{make(chan struct{}, 1), make(chan struct{})}
	s, r, other := startEcho(t, nil), newRecord(t), newRecord(t)
	slow, reply := make(chan error, 1), make(chan error, 1)
	go s.Submit(&Submit{ID: "a", IDs: promptOf(5, 1), MaxNew: 5, Sink: r, Reply: slow, Stop: func() Matcher { <-h.until; return h }})
	s.Submit(&Submit{ID: "b", IDs: promptOf(5, 2), MaxNew: 5, Sink: other, Reply: reply})
	if err := <-reply; err != nil {
		t.Fatal(err)
	}
	if e := other.wait(); e.Reason != ReasonLength {
		t.Errorf("ended %+v", e)
	}
	close(h.until)
	if err := <-slow; err != nil {
		t.Error(err)
	}
	r.wait()
}
