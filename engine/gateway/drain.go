package gateway

import (
	"context"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// Drain waits until the clients that are here have read to their ends the sequences that are
// open now, or ctx ends, which must have a deadline. What is open goes on to come.
func (g *Gateway) Drain(ctx context.Context) {
	deadline, _ := ctx.Deadline()
	g.mu.Lock()
	var waits []*actor.Future
	for _, e := range g.guests {
		waits = append(waits, g.system.Root.RequestFuture(e.pid, &drain{}, max(0, time.Until(deadline))))
	}
	g.mu.Unlock()
	for _, f := range waits {
		// All is read, or it is too late, or the guest has ended: nothing more is waited for.
		_, _ = f.Result()
	}
}

// drain asks a guest to answer with settled when its client has read all, or is gone.
type (
	drain   struct{}
	settled struct{}
)

// settleDrains answers who waits for that.
func (g *guest) settleDrains() {
	if g.client != nil && len(g.streams) > 0 {
		return
	}
	for _, pid := range g.drains {
		g.system.Root.Send(pid, &settled{})
	}
	g.drains = nil
}
