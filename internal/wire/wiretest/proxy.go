package wiretest

import (
	"errors"
	"net"
	"sync"
	"testing"
	"time"
)

// Proxy passes bytes between those who connect to it and a server, in both directions.
type Proxy struct {
	t        testing.TB
	server   string
	listener net.Listener
	running  sync.WaitGroup

	mu     sync.Mutex
	pairs  map[*pair]struct{}
	faults faults
	change chan struct{} // closed when faults change
	closed bool
}

// faults are what is wrong with the network.
type faults struct {
	frozen bool
	delay  time.Duration
	rate   int // bytes a second; 0: as fast as may be
	dead   bool
}

// NewProxy is a proxy for a server at an address, until the test ends.
func NewProxy(t testing.TB, server string) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{t: t, server: server, listener: l, pairs: map[*pair]struct{}{}, change: make(chan struct{})}
	p.running.Go(p.accept)
	t.Cleanup(p.close)
	return p
}

// Addr is where clients connect.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Freeze swallows everything in both directions, or no longer: what came meanwhile is then
// passed on. The connections stay, as those of a process that was stopped do.
func (p *Proxy) Freeze(on bool) { p.set(func(f *faults) { f.frozen = on }) }

// Delay passes each piece that was read, of at most 16 KiB, on later by d.
func (p *Proxy) Delay(d time.Duration) { p.set(func(f *faults) { f.delay = d }) }

// Throttle passes on so many bytes a second in each direction of each connection; 0: any number.
func (p *Proxy) Throttle(bytes int) { p.set(func(f *faults) { f.rate = bytes }) }

// Refuse closes new connections at once, or no longer.
func (p *Proxy) Refuse(on bool) { p.set(func(f *faults) { f.dead = on }) }

// Cut closes all connections, and tells how many there were.
func (p *Proxy) Cut() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.pairs {
		c.close()
	}
	return len(p.pairs)
}

// Open is how many connections there are.
func (p *Proxy) Open() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.pairs)
}

func (p *Proxy) set(change func(*faults)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(&p.faults)
	close(p.change)
	p.change = make(chan struct{})
}

// now is what is wrong at the moment, and a channel that is closed when that changes.
func (p *Proxy) now() (faults, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.faults, p.change
}

func (p *Proxy) close() {
	if err := p.listener.Close(); err != nil {
		p.t.Error(err)
	}
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.Cut()
	p.running.Wait()
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		} else if err != nil {
			p.t.Error(err)
			return
		}
		p.running.Go(func() { p.serve(client) })
	}
}

func (p *Proxy) serve(client net.Conn) {
	f, _ := p.now()
	server, err := net.Dial("tcp", p.server)
	c := &pair{client: client, server: server, ended: make(chan struct{})}
	if f.dead || err != nil {
		c.close()
		return
	}
	p.mu.Lock()
	p.pairs[c] = struct{}{}
	closed := p.closed
	p.mu.Unlock()
	if closed {
		c.close()
	}
	p.running.Go(func() { p.pass(c, client, server) })
	p.pass(c, server, client)
	p.mu.Lock()
	delete(p.pairs, c)
	p.mu.Unlock()
}

// pass copies one direction of a connection until either end closes it.
func (p *Proxy) pass(c *pair, to, from net.Conn) {
	defer c.close()
	buffer := make([]byte, 16<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 && !p.hinder(c, n) {
			return
		}
		if n > 0 {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil { // io.EOF, too: halves are not closed by themselves here
			return
		}
	}
}

// hinder waits as long as the faults make n bytes wait. It is false when the connection has
// ended meanwhile.
func (p *Proxy) hinder(c *pair, n int) bool {
	f, _ := p.now()
	wait := f.delay
	if f.rate > 0 {
		wait += time.Duration(n) * time.Second / time.Duration(f.rate)
	}
	if !c.sleep(wait) {
		return false
	}
	for {
		f, changed := p.now()
		if !f.frozen {
			return true
		}
		select {
		case <-changed:
		case <-c.ended:
			return false
		}
	}
}

// pair is a connection on both sides of the proxy.
type pair struct {
	client, server net.Conn // server is nil where it was not reached
	once           sync.Once
	ended          chan struct{}
}

func (c *pair) close() {
	c.once.Do(func() {
		close(c.ended)
		for _, conn := range []net.Conn{c.client, c.server} {
			if conn != nil {
				// It is cut on purpose: what is lost by it is the point.
				_ = conn.Close()
			}
		}
	})
}

func (c *pair) sleep(d time.Duration) bool {
	if d <= 0 {
		return true
	}
	select {
	case <-time.After(d):
		return true
	case <-c.ended:
		return false
	}
}
