package actors

import (
	"github.com/asynkron/protoactor-go/actor"

	"github.com/cbactor/cbactor/blockmgr"
)

// blocks is the shell of blockmgr.Manager.
//
// Concurrency: single goroutine, sole user of the core. One Reserve is out at a
// time, so one answer is enough: the scheduler is done with it before it asks again.
type blocks struct {
	peers
	core   *blockmgr.Manager
	answer blockmgr.Reserved
}

func (a *blocks) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *peers:
		a.peers = *m
	case *blockmgr.Reserve:
		if err := a.core.Reserve(m, &a.answer); err != nil {
			c.Send(a.supervisor, &fatal{"blocks", err})
			return
		}
		c.Respond(ahead[blockmgr.Reserved]{&a.answer})
	}
}
