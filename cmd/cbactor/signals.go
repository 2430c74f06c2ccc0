package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// interrupted is the signal that ended a run.
type interrupted struct{ signal os.Signal }

func (i interrupted) Error() string { return "ended by " + i.signal.String() }

// status is what a shell shows of a process that the signal has ended.
func (i interrupted) status() int {
	if i.signal == syscall.SIGTERM {
		return 128 + 15
	}
	return 128 + 2
}

// cancelling is what most commands do when they are interrupted.
const cancelling = "cancelling"

// interrupts gives a context that the first SIGINT or SIGTERM ends, with it as the
// cause, which is told as doing something. The second one ends the process, as both do
// before and after. stop ends the watch.
func (c *cli) interrupts(parent context.Context, doing string) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	done := make(chan struct{})
	go func() {
		select {
		case s := <-signals:
			c.say("%s; once more to end at once", doing)
			cancel(interrupted{s})
		case <-done:
			return
		}
		select {
		case s := <-signals:
			os.Exit(interrupted{s}.status())
		case <-done:
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(done)
		cancel(nil)
	}
}
