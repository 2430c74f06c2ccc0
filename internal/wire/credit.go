package wire

import (
	"sync/atomic"

	"github.com/asynkron/protoactor-go/actor"
)

// messageCost is what a message takes beside its bytes.
const messageCost = 256

// handled is sent to an actor among the messages of a connection, and comes back when the actor
// has handled all before: the library answers it. Actors do not look at it.
type handled struct{ bytes int64 }

var _ actor.AutoRespond = (*handled)(nil)

// GetAutoResponse makes the library answer.
func (h *handled) GetAutoResponse(actor.Context) any { return h }

// credit bounds what was read and is not handled. One goroutine takes, any gives.
type credit struct {
	limit int64
	ended <-chan struct{}
	taken int64 // since the last handled was sent
	open  atomic.Int64
	given chan struct{} // has room for one
}

func newCredit(limit int, ended <-chan struct{}) *credit {
	return &credit{limit: int64(limit), ended: ended, given: make(chan struct{}, 1)}
}

// took counts a message. Where the answer is not nil it is to be sent, and then waited.
func (c *credit) took(bytes int) *handled {
	c.taken += int64(bytes) + messageCost
	if c.taken < c.limit/4 {
		return nil
	}
	due := &handled{c.taken}
	c.open.Add(c.taken)
	c.taken = 0
	return due
}

// wait waits until there is room, or the connection ends.
func (c *credit) wait() {
	for c.open.Load() >= c.limit*3/4 {
		select {
		case <-c.given:
		case <-c.ended:
			return
		}
	}
}

func (c *credit) give(h *handled) {
	c.open.Add(-h.bytes)
	select {
	case c.given <- struct{}{}:
	default: // somebody has woken it already
	}
}
