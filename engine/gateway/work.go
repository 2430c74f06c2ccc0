package gateway

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/rs/zerolog"

	"github.com/cbactor/cbactor/messages"
)

// job is what a call has the engine do.
type job struct {
	run  func(context.Context) (*messages.Reply, error)       // on a goroutine; a nil Reply: there is nothing to tell
	done func(reply *messages.Reply, err error, c *call) bool // then, by the guest; false: it answers by itself, later. nil: nothing
}

// lane has calls that are obeyed one after the other.
type lane struct {
	waiting []*call
	busy    bool
}

// answered says that a job has ended.
type answered struct {
	call  *call
	reply *messages.Reply
	err   error
}

// start has a call obeyed, when it is its turn.
func (g *guest) start(c *call, l *lane, j job) {
	c.job, c.lane = j, l
	switch {
	case l == nil:
		g.work(c)
	case l.busy:
		l.waiting = append(l.waiting, c)
	default:
		l.busy = true
		g.work(c)
	}
}

// work runs the job of a call on a goroutine, which tells the guest of its end.
func (g *guest) work(c *call) {
	self, root, run, ctx, log := g.self, g.system.Root, c.job.run, c.ctx, g.log
	g.running.Go(func() {
		a := &answered{call: c}
		if a.err = ctx.Err(); a.err == nil {
			a.reply, a.err = safely(log, func() (*messages.Reply, error) { return run(ctx) })
		}
		root.Send(self, a)
	})
}

// safely runs what uses the engine. A panic is an error.
func safely(log zerolog.Logger, run func() (*messages.Reply, error)) (reply *messages.Reply, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			log.Error().Any("panic", cause).Bytes("stack", debug.Stack()).Msg("a call has panicked")
			reply, err = nil, fmt.Errorf("the engine panicked: %v", cause)
		}
	}()
	return run()
}

// answered ends a call whose job has ended, and begins the next of its lane.
func (g *guest) answered(m *answered) {
	c := m.call
	if l := c.lane; l != nil {
		l.busy = len(l.waiting) > 0
		if l.busy {
			next := l.waiting[0]
			l.waiting = l.waiting[1:]
			g.work(next)
		}
	}
	if c.job.done == nil || c.job.done(m.reply, m.err, c) {
		g.answer(c, m.reply, m.err)
	}
}
