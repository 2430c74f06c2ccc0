package actors

import (
	"github.com/asynkron/protoactor-go/actor"

	"github.com/cbactor/cbactor/blockmgr"
)

// swap is the shell of blockmgr.Host, the ledger of the host pool.
//
// Concurrency: single goroutine, sole user of the ledger. Each answer is a new one:
// while the scheduler has yet to read it, a request that is in the pool may end,
// and its drop come here.
type swap struct {
	peers
	core  *blockmgr.Host
	meter *Meter
}

func (a *swap) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *peers:
		a.peers = *m
	case *blockmgr.Swap:
		answer := new(blockmgr.Swapped)
		if err := a.core.Swap(m, answer); err != nil {
			c.Send(a.supervisor, &fatal{"swap", err})
			return
		}
		a.meter.hostFree.Store(int64(a.core.Free()))
		if len(m.Out)+len(m.In) > 0 {
			c.Respond(ahead[blockmgr.Swapped]{answer})
		}
	}
}
