package gateway

import (
	"io/fs"

	"github.com/cbactor/cbactor/internal/wire"
)

// NewFolder is a folder with a file of some pieces.
func NewFolder(name string, pieces [][]byte) fs.FS {
	f := &file{name: name}
	for _, p := range pieces {
		f.add(p)
	}
	return &folder{files: map[string]*file{name: f}}
}

// Break has the guest of a client panic.
func (g *Gateway) Break(id string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.system.Root.Send(g.guests[id].pid, new(arrived))
}

// Accept is what a connection asks.
func (g *Gateway) Accept(p wire.Peer) error {
	_, err := g.accept(p)
	return err
}

// Slow counts connections that were cut since their clients did not read.
func (g *Gateway) Slow() int64 { return g.server.Stats().Slow }
