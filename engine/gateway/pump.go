package gateway

import (
	"context"
	"sync"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/cbactor/cbactor/engine/texts"
)

// pump reads a stream for a guest on a goroutine, one chunk for each time that it is let.
type pump struct {
	stream   texts.Stream
	sequence *sequence
	guest    *actor.PID
	root     *actor.RootContext
	life     context.Context
	more     chan struct{} // room for one: the next chunk may be read
	told     uint64        // the last ticket that was answered: run's own

	mu    sync.Mutex
	asked uint64 // times that somebody asked whether something is there
	wait  context.Context
	stop  context.CancelFunc // ends wait
}

// arrived is a chunk of a sequence.
type arrived struct {
	sequence *sequence
	chunk    texts.Chunk
}

// drained says that a stream had nothing more, after it was asked for the ticket-th time.
type drained struct {
	sequence *sequence
	ticket   uint64
}

// run reads the stream to its end, or to that of the guest.
func (p *pump) run() {
	defer p.end()
	for p.allowed() && p.chunk() {
	}
}

// chunk hands over the next chunk; false: there is none behind it.
func (p *pump) chunk() bool {
	for {
		wait, ticket := p.look()
		c, err := p.stream.Recv(wait)
		switch {
		case err == nil:
			p.root.Send(p.guest, &arrived{p.sequence, c})
			return c.Final == nil
		case p.life.Err() != nil || wait.Err() == nil: // a stream does not end without a Final
			return false
		case ticket > p.told:
			p.told = ticket
			p.root.Send(p.guest, &drained{p.sequence, ticket})
		}
	}
}

// allowed waits until the next chunk may be read; false: the guest has ended.
func (p *pump) allowed() bool {
	select {
	case <-p.more:
		return true
	case <-p.life.Done():
		return false
	}
}

// look is the context of the next wait. If somebody has asked since the last answer it has
// ended: then only what is there is read.
func (p *pump) look() (wait context.Context, ticket uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.wait == nil || p.wait.Err() != nil {
		p.wait, p.stop = context.WithCancel(p.life)
	}
	if p.asked > p.told {
		p.stop()
	}
	return p.wait, p.asked
}

// ask has the pump say when it has read all that is there by now: by drained with the
// ticket, or a later one.
func (p *pump) ask() (ticket uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked++
	if p.stop != nil {
		p.stop()
	}
	return p.asked
}

// end frees what the last wait has taken.
func (p *pump) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stop != nil {
		p.stop()
	}
}

// let lets the pump read one chunk more.
func (p *pump) let() { p.more <- struct{}{} }
