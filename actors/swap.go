package actors

import (
	"github.com/asynkron/protoactor-go/actor"

	"github.com/cbactor/cbactor/blockmgr"
)

// swap is the shell of blockmgr.Host, the ledger of the host pool.
//
// Concurrency: single goroutine, sole user of the ledger. The scheduler waits for an
// answer before it asks for more to be moved, so one answer is enough.
type swap struct {
	peers
	core   *blockmgr.Host
	answer blockmgr.Swapped
}

func (a *swap) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *peers:
		a.peers = *m
	case *blockmgr.Swap:
		if err := a.core.Swap(m, &a.answer); err != nil {
			c.Send(a.supervisor, &fatal{"swap", err})
			return
		}
		if len(m.Out)+len(m.In) > 0 {
			c.Respond(&a.answer)
		}
	}
}
