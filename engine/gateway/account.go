package gateway

import (
	"fmt"
	"sync/atomic"

	"github.com/cbactor/cbactor/engine/internal/convert"
)

// account is what all guests of one identity have, or all of a gateway.
type account struct {
	guests int          // the gateway's lock is held
	bytes  atomic.Int64 // as the guests have told
}

// tellEach is by how much a guest's bytes have to change before it tells.
const tellEach = 64 << 10

// bytes are about those that the guest has.
func (g *guest) bytes() int64 {
	n := g.asked.bytes + g.asked.answer + g.answers + g.unread
	if g.manifest != nil {
		n += g.manifest.bytes
	}
	return int64(n) + g.fileBytes
}

// weigh tells of the guest's bytes, and whether all of its identity, or of the gateway, have more
// than they may.
func (g *guest) weigh() error {
	own, all := g.entry.account, &g.Gateway.all
	if change := g.bytes() - g.told; change >= tellEach || change <= -tellEach {
		g.tellBytes(change)
	}
	l := g.options.Limits
	if n := own.bytes.Load(); n > l.IdentityBytes {
		return fmt.Errorf("%w: all clients of one certificate have %d bytes, there may be %d", convert.ErrLimit, n, l.IdentityBytes)
	}
	if n := all.bytes.Load(); n > l.AllBytes {
		return fmt.Errorf("%w: all clients have %d bytes, there may be %d", convert.ErrLimit, n, l.AllBytes)
	}
	return nil
}

func (g *guest) tellBytes(change int64) {
	g.told += change
	g.entry.account.bytes.Add(change)
	g.Gateway.all.bytes.Add(change)
}

// account finds or makes that of an identity. The lock is held.
func (g *Gateway) account(identity string) *account {
	a := g.accounts[identity]
	if a == nil {
		a = new(account)
		g.accounts[identity] = a
	}
	return a
}
