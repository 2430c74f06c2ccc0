package engine

import (
	"testing"
	"time"
)

// TestPace has who sends rest as long as they work, from a millisecond of
// work on, while a request is open and steps run; else it does not.
func TestPace(t *testing.T) {
	e := spawnTiny(t, Config{Threads: 1, WeightSets: 2})
	p := pace{engine: e}
	rests := func(when string, work, want time.Duration) {
		t.Helper()
		if got := p.rest(work); got != want {
			t.Errorf("%s: rests %s after %s, want %s", when, got, work, want)
		}
	}
	rests("nobody generates", 5*time.Millisecond, 0)

	s, err := e.AddRequest(t.Context(), Request{PromptIDs: []int32{0, 327, 329}, MaxNewTokens: 400, IgnoreEOS: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Recv(t.Context()); err != nil {
		t.Fatal(err)
	}
	rests("little work", 600*time.Microsecond, 0)
	rests("enough work", 600*time.Microsecond, 1200*time.Microsecond)
	rests("little again", 600*time.Microsecond, 0)

	hold, err := e.Pause(t.Context(), PauseOptions{Lease: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	rests("under a pause", 5*time.Millisecond, 0)
	if err := hold.Release(""); err != nil {
		t.Fatal(err)
	}
}
