package main

import (
	"context"
	"time"
)

// patience is how long a user at a terminal waits without being told for what.
const patience = time.Second

// wait waits for f or for the end of ctx, whose cause is the error then. The process
// ends soon after that, and f, which may be in the middle of reading, with it. what
// is told to a user who has to wait for it.
func wait[T any](ctx context.Context, c *cli, what string, f func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := f()
		done <- result{value, err}
	}()
	defer c.notice(what)()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}

// notice tells a user at a terminal what the command does, unless it is soon done with
// it and stop is called.
func (c *cli) notice(what string) (stop func()) {
	if !isTerminal(c.stderr) {
		return func() {}
	}
	t := time.AfterFunc(patience, func() { c.say("%s", what) })
	return func() { t.Stop() }
}
