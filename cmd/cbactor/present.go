package main

import (
	"context"
	"time"

	"github.com/cbactor/cbactor/cmd/cbactor/internal/show"
)

// present runs jobs and shows what becomes of them. When the output cannot be
// written, what is open is cancelled.
func (c *cli) present(ctx context.Context, r *runner, jobs source, tally *show.Tally, sinks []show.Sink) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var failed error
	for n := range r.run(ctx, jobs) {
		err := n.err
		switch {
		case n.skipped:
			tally.Skip()
		case err == nil:
			tally.Event(n.event)
			if failed == nil {
				err = deliver(sinks, n.event)
			}
			if res := n.event.Result; res != nil && res.Error != "" {
				c.say("%s", oneLine(res.Error))
			}
		}
		if err != nil && failed == nil {
			failed = err
			cancel(err)
		}
	}
	for _, s := range sinks {
		if err := s.Close(); err != nil && failed == nil {
			failed = err
		}
	}
	if failed == nil && tally.Ran() {
		c.say("%s", tally.Summary(time.Now()))
	}
	switch {
	case failed != nil:
		return failed
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case tally.Failed() > 0:
		return errReported
	}
	return nil
}

func deliver(sinks []show.Sink, e show.Event) error {
	for _, s := range sinks {
		if err := s.Event(e); err != nil {
			return err
		}
	}
	return nil
}
