package wire

import (
	"net"
	"slices"
	"sync"
)

// Bounds of connections over which nobody has said yet who the client is.
const (
	maxStrangers = 256
	maxOfAddress = 64 // of which, from one address
)

// listener closes connections beyond a number at once. Those of strangers, about whom nothing is
// known, do not count there: of these the oldest gives way, first that of the same address, so that
// silent ones keep nobody out.
type listener struct {
	net.Listener
	limit int // of connections of clients

	mu        sync.Mutex
	clients   map[string]*counted // by the address that they connect from
	strangers []*counted          // the oldest first
}

func (l *listener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &counted{Conn: conn, listener: l, address: conn.RemoteAddr().String()}
	if away := l.enter(c); away != nil {
		// What closing says is nothing to the others, and the peer hears nothing anyway.
		_ = away.Close()
	}
	return c, nil
}

// enter counts a stranger, and answers the one that has to give way; nil: none.
func (l *listener) enter(c *counted) *counted {
	l.mu.Lock()
	defer l.mu.Unlock()
	ofAddress, oldest := 0, 0
	for i, s := range slices.Backward(l.strangers) {
		if s.host() == c.host() {
			ofAddress, oldest = ofAddress+1, i
		}
	}
	if ofAddress < maxOfAddress {
		oldest = 0
	}
	l.strangers = append(l.strangers, c)
	if ofAddress < maxOfAddress && len(l.strangers) <= maxStrangers {
		return nil
	}
	return l.strangers[oldest]
}

// greeted notes that a connection from an address is a client's; false: there are too many.
func (l *listener) greeted(address string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.IndexFunc(l.strangers, func(s *counted) bool { return s.address == address })
	if i < 0 {
		return true // it has ended
	}
	if len(l.clients) >= l.limit {
		return false
	}
	l.clients[address] = l.strangers[i]
	l.strangers = slices.Delete(l.strangers, i, i+1)
	return true
}

// left forgets a connection.
func (l *listener) left(c *counted) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.clients[c.address] == c {
		delete(l.clients, c.address)
	}
	l.strangers = slices.DeleteFunc(l.strangers, func(s *counted) bool { return s == c })
}

// counted is a connection of a listener.
type counted struct {
	net.Conn
	listener *listener
	address  string // host:port that it comes from
}

// host is the part of the address that many connections may have.
func (c *counted) host() string {
	host, _, err := net.SplitHostPort(c.address)
	if err != nil {
		return c.address
	}
	return host
}

func (c *counted) Close() error {
	c.listener.left(c)
	return c.Conn.Close()
}
