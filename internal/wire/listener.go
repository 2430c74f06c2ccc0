package wire

import (
	"net"
	"sync"
	"sync/atomic"
)

// listener closes connections beyond a number at once.
type listener struct {
	net.Listener
	limit int64
	open  atomic.Int64
}

func (l *listener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if l.open.Add(1) <= l.limit {
			return &counted{Conn: conn, left: sync.OnceFunc(func() { l.open.Add(-1) })}, nil
		}
		l.open.Add(-1)
		// What closing says is nothing to the others, and the peer hears nothing anyway.
		_ = conn.Close()
	}
}

// counted is a connection of a listener.
type counted struct {
	net.Conn
	left func()
}

func (c *counted) Close() error {
	c.left()
	return c.Conn.Close()
}
