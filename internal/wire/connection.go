package wire

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// Opened is sent to the actor that a server has chosen for a connection, before anything else of
// it. Client stands for the client on this connection alone: what is sent to it is
// written, and stopping or poisoning it ends the connection, behind what was sent before.
type Opened struct{ Client *actor.PID }

// Closed is the last that an actor hears of a connection, on either side. Client is the PID of the
// other side.
type Closed struct {
	Client *actor.PID
	Err    error // nil: the client has closed it
}

// Written comes back from the PID that it is sent to, to the actor of its connection, when all
// that was sent to that PID before has been written, unless the connection ends before. So an actor
// paces what it sends to a slow peer, which would be cut otherwise.
type Written struct {
	Client *actor.PID
	Bytes  int // the actor's own
}

// Replaced is sent to the PID of a client that has connected again, or of which another one has the
// id. It ends the connection with ErrReplaced, behind what was sent before: the client does
// not come back by itself.
type Replaced struct{}

// stream is what the streams of gRPC have on both sides.
type stream interface {
	SendMsg(m any) error
	RecvMsg(m any) error
}

// connection is one side's end of a connection: the process behind the PID that stands
// for the other side.
type connection struct {
	system *actor.ActorSystem
	stream stream
	guard  guard
	out    *queue
	unread *credit
	pid    *actor.PID // of the other side
	owner  *actor.PID // is told everything

	hangUp  func() error  // of a client: tells the other side that nothing more is written
	abort   func()        // of a client: ends the stream; a server's ends by itself
	stopped error         // the end of a connection whose PID is stopped
	ending  atomic.Bool   // it has begun to end on this side
	written chan struct{} // closed: nothing is written any more

	once  sync.Once
	ended chan struct{} // closed: err says why
	err   error
}

func newConnection(system *actor.ActorSystem, s stream, l Limits) *connection {
	ended := make(chan struct{})
	return &connection{system: system, stream: s, guard: guard{largest: l.Message}, unread: newCredit(l.Unhandled, ended),
		out: newQueue(l), written: make(chan struct{}), ended: ended}
}

// join makes the PID of the other side, whose messages go to owner from now on.
func (c *connection) join(owner *actor.PID, peer string) error {
	registry := c.system.ProcessRegistry
	p, ok := registry.Get(owner)
	if !ok {
		return fmt.Errorf("%w: its actor has ended", ErrEnded)
	}
	c.owner = owner
	c.pid, _ = registry.Add(c, "wire/"+peer+registry.NextId()) // no other one has this name
	p.SendSystemMessage(owner, &actor.Watch{Watcher: c.pid})
	return nil
}

// leave takes back what join has done, and tells the owner. Nothing is read any more.
func (c *connection) leave() {
	registry := c.system.ProcessRegistry
	if p, ok := registry.Get(c.owner); ok {
		p.SendSystemMessage(c.owner, &actor.Unwatch{Watcher: c.pid})
		c.system.Root.Send(c.owner, &Closed{Client: c.pid, Err: c.err})
	}
	registry.Remove(c.pid)
}

// end ends the connection now; the first error is the one that counts.
func (c *connection) end(err error) {
	c.once.Do(func() {
		c.err = err
		close(c.ended)
		c.out.close(true)
		if c.abort != nil {
			c.abort()
		}
	})
}

// finish ends the connection when what waits has been written, or has had its time. The first
// error is the one that counts.
func (c *connection) finish(err error) {
	if c.ending.Swap(true) {
		return
	}
	c.out.close(false)
	go func() {
		late := time.After(closingTime)
		select {
		case <-c.written:
			if c.hangUp != nil && c.hangUp() == nil {
				select {
				case <-c.ended:
				case <-late:
				}
			}
		case <-c.ended:
		case <-late:
		}
		c.end(err)
	}()
}

// write writes frames until there are no more, or that goes wrong.
func (c *connection) write() {
	defer close(c.written)
	bytes := 0
	for {
		frame, next, mark, ok := c.out.take(bytes)
		if !ok {
			return
		}
		bytes = next
		if mark != nil {
			c.system.Root.Send(c.owner, mark)
			continue
		}
		if err := c.stream.SendMsg(frame); err != nil {
			if !errors.Is(err, io.EOF) { // else reading tells why
				c.end(fromStatus(err))
			}
			c.out.close(true)
			return
		}
	}
}

// receive reads one frame. What it holds is valid until free is called.
func (c *connection) receive() (kind protowire.Number, body []byte, free func(), err error) {
	var f received
	if err := c.stream.RecvMsg(&f); errors.Is(err, io.EOF) {
		return 0, nil, nil, io.EOF
	} else if err != nil {
		return 0, nil, nil, fromStatus(err)
	}
	kind, body, err = parseFrame(f.memory.ReadOnlyData())
	if err != nil {
		f.memory.Free()
		return 0, nil, nil, err
	}
	return kind, body, f.memory.Free, nil
}

// read hands on what comes, until it ends: io.EOF: in good order. A defect that a frame finds
// here ends its connection alone.
func (c *connection) read() (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = forbidden("a frame that is not understood: %v", r)
		}
	}()
	for {
		kind, body, free, err := c.receive()
		if err != nil {
			return err
		}
		switch kind {
		case frameBatch:
			err = c.guard.messages(body, c.deliver)
		case frameDisconnect:
			err = io.EOF
		default:
			err = forbidden("a connection that begins again")
		}
		free()
		if err != nil {
			return err
		}
	}
}

func (c *connection) deliver(m proto.Message, bytes int) {
	c.system.Root.RequestWithCustomSender(c.owner, m, c.pid)
	if due := c.unread.took(bytes); due != nil {
		c.system.Root.RequestWithCustomSender(c.owner, due, c.pid)
		c.unread.wait()
	}
}

// SendUserMessage writes a message to the other side. It is part of actor.Process.
func (c *connection) SendUserMessage(_ *actor.PID, message any) {
	switch m := actor.UnwrapEnvelopeMessage(message).(type) {
	case *handled:
		c.unread.give(m)
	case *actor.PoisonPill:
		c.finish(c.stopped)
	case *Replaced:
		c.finish(ErrReplaced)
	case *actor.DeadLetterResponse: // Terminated tells it, too
	case *Written:
		c.out.mark(m)
	case proto.Message:
		if err := c.out.put(m); err != nil {
			c.end(err)
		}
	default:
		c.end(fmt.Errorf("%w: a %T is no protobuf message", ErrProtocol, m))
	}
}

// SendSystemMessage hears of the end of the owner. It is part of actor.Process.
func (c *connection) SendSystemMessage(_ *actor.PID, message any) {
	if _, ok := message.(*actor.Terminated); ok {
		c.end(fmt.Errorf("%w: its actor has ended", ErrEnded))
	}
}

// Stop ends the connection. It is part of actor.Process.
func (c *connection) Stop(*actor.PID) { c.finish(c.stopped) }
