package sched

import (
	"context"
	"github.com/cbactor/cbactor/weights"
)

// commit changes the weights: to a further version, or back to one of before.
func (s *sim) commit(kv KV, back bool) {
	s.t.Helper()
	c := Commit{Epoch: s.serving.Epoch + 1, Version: s.serving.Epoch, KV: kv}
	if back {
		c.Version = 0
	}
	if err := s.echo.Load(context.Background(), &weights.Set{Epoch: c.Epoch}); err != nil {
		s.t.Fatal(err)
	}
	s.serving, s.news = c, true
	for _, o := range s.all {
		if o.end == Running && o.dropped == "" {
			o.claims.commits, o.claims.had = append(o.claims.commits, c), append(o.claims.had, len(o.got))
		}
	}
	if err := s.core.Commit(c); err != nil {
		s.t.Fatal(err)
	}
	s.plan()
}

// ended is whom commits have ended. What no step names any more is dropped.
func (s *sim) ended() []Item {
	s.t.Helper()
	for ; s.loaded < s.core.Oldest(); s.loaded++ {
		if err := s.echo.Drop(s.loaded); err != nil {
			s.t.Fatal(err)
		}
	}
	for _, b := range s.running {
		if b.Epoch < s.loaded {
			s.t.Fatalf("step %d runs in epoch %d, which is dropped", b.Step, b.Epoch)
		}
	}
	var t Tokens
	s.core.Ended(&t)
	return t.Items
}
