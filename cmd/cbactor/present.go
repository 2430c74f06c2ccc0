package main

import (
	"context"
	"errors"
	"time"

	"github.com/cbactor/cbactor/cmd/cbactor/internal/show"
)

// present runs jobs and shows what becomes of them. When the output cannot be
// written, what is open is cancelled.
func (c *cli) present(ctx context.Context, r *runner, jobs source, tally *show.Tally, sinks []show.Sink) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var failed error
	misused := true // by every request that failed
	complaints := &complaints{cli: c, alike: map[string]int{}}
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
			if res := n.event.Result; res != nil && res.Err != nil {
				complaints.add(res.Err)
				misused = misused && errors.As(res.Err, new(usageError))
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
	complaints.close(tally.Ended())
	if failed == nil && tally.Ran() {
		c.sum(tally)
	}
	switch {
	case failed != nil:
		return failed
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case tally.Failed() > 0 && misused:
		return usageError{error: errReported}
	case tally.Failed() > 0:
		return errReported
	}
	return nil
}

// sum says what a run has done.
func (c *cli) sum(tally *show.Tally) {
	for _, line := range tally.Summary(time.Now()) {
		c.say("%s", line)
	}
}

func deliver(sinks []show.Sink, e show.Event) error {
	for _, s := range sinks {
		if err := s.Event(e); err != nil {
			return err
		}
	}
	return nil
}
