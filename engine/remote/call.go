package remote

import (
	"container/list"
	"context"
	"fmt"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/internal/wire"
	"github.com/cbactor/cbactor/messages"
)

// smallCall is the size of calls that are sent whatever else is under way: among them all that end something.
const smallCall = 4 << 10

// grace is how long a caller whose context has ended waits for what became of its call.
const grace = 5 * time.Second

// largest is how large a call may be.
var largest = wire.DefaultLimits.Message - 1<<10

// call is what somebody asks the engine. It is the link's once it is sent there.
type call struct {
	message *messages.Call
	answer  func(*messages.Reply, error) // called once, by the link: it must not block
	undo    func(*messages.Reply)        // called for it where the caller has not waited and it went well; nil: nothing is to be undone
	run     int                          // of the engine, in which what it names was made; 0: any
	room    int                          // sequences that it may open
	waits   bool                         // for room
	size    int                          // bytes of the message; 0: few
	brief   bool                         // it concerns its connection, and is not sent over another one

	submission *submission // whose call it is; nil: of no request

	line    *list.List // that it waits in; nil: in none
	at      *list.Element
	number  uint64 // 0: it was never sent
	dropped error  // why nobody waits for it any more; nil: somebody does
	left    bool   // it was answered
}

// finish answers a call, once.
func (k *call) finish(r *messages.Reply, err error) {
	if !k.left {
		k.left = true
		k.answer(r, err)
	}
}

// answer is what a call has come to.
type answer struct {
	reply *messages.Reply
	err   error
}

// giveUp tells the link that the caller's context has ended.
type giveUp struct {
	call  *call
	cause error
}

// overdue tells it that the caller waits no longer for what became of it.
type overdue struct{ call *call }

// ask asks the engine and waits for the answer, which is never nil without an error. When ctx
// ends first the engine learns it, and its answer is waited for a little.
func (c *Client) ask(ctx context.Context, k *call) (*messages.Reply, error) {
	answers := make(chan answer, 1)
	before := k.answer
	k.answer = func(r *messages.Reply, err error) {
		if before != nil {
			before(r, err)
		}
		answers <- answer{r, err}
	}
	if err := k.sendable(); err != nil {
		return nil, err
	}
	c.link.tell(k)
	select {
	case a := <-answers:
		return a.reply, a.err
	case <-c.link.ended:
		return nil, engine.ErrClosed
	case <-ctx.Done():
		c.link.tell(&giveUp{k, ctx.Err()})
	}
	select {
	case a := <-answers:
		return a.reply, a.err
	case <-c.link.ended:
		return nil, engine.ErrClosed
	}
}

// sendable refuses a call that is too large, has too many parts, or a text that no message can
// have: it would end the connection.
func (k *call) sendable() error {
	m := k.message
	if k.size = proto.Size(m); k.size > largest {
		return fmt.Errorf("%w: it takes %d bytes, there may be %d in a message", engine.ErrParams, k.size, largest)
	}
	var texts []string
	switch what := m.GetWhat().(type) {
	case *messages.Call_PutChunk:
		texts = []string{what.PutChunk.GetName(), what.PutChunk.GetDtype()}
	case *messages.Call_WriteTensor:
		texts = []string{what.WriteTensor.GetName()}
	case *messages.Call_AdapterFile:
		texts = []string{what.AdapterFile.GetName()}
	default:
		if err := wire.Sendable(m, largest); err != nil {
			return fmt.Errorf("%w: it cannot be sent: %w", engine.ErrParams, err)
		}
	}
	for _, s := range texts {
		if !utf8.ValidString(s) {
			return fmt.Errorf("%w: %.80q is not UTF-8", engine.ErrParams, s)
		}
	}
	return nil
}

// do asks for something that has no answer but that it is done.
func (c *Client) do(ctx context.Context, m *messages.Call) error {
	_, err := c.ask(ctx, &call{message: m})
	return err
}

// pour sends a call with much data when there is room for one, without waiting for its
// answer.
func (c *Client) pour(ctx context.Context, k *call) error {
	if err := k.sendable(); err != nil {
		return err
	}
	select {
	case c.flow <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	case <-c.link.ended:
		return engine.ErrClosed
	}
	then := k.answer
	k.size = 0 // its room is c.flow's
	k.answer = func(r *messages.Reply, err error) {
		<-c.flow
		then(r, err)
	}
	c.link.tell(k)
	return nil
}
