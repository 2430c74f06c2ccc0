package lane

import (
	"sync"

	"github.com/asynkron/protoactor-go/actor"
)

// Control marks a message that overtakes queued work. Keep it rare: the lane
// drains before any user message.
type Control interface{ ControlMessage() }

// Wrap adds the control lane to the mailboxes that p produces, for Send, Request
// and delivery from another process alike.
func Wrap(p actor.MailboxProducer) actor.MailboxProducer {
	return func() actor.Mailbox { return mailbox{p(), new(controls)} }
}

// controls are the control messages not handled yet, oldest first.
type controls struct {
	mu   sync.Mutex
	list []any
	next int // in list: those before are handled
}

func (q *controls) put(message any) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.list = append(q.list, message)
}

func (q *controls) take() (message any, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.next == len(q.list) {
		q.list, q.next = q.list[:0], 0
		return nil, false
	}
	message = q.list[q.next]
	q.list[q.next] = nil
	q.next++
	return message, true
}

// wake is the system message that stands for a control message in the queue of those.
type wake struct{}

type mailbox struct {
	actor.Mailbox
	controls *controls
}

func (m mailbox) PostUserMessage(message any) {
	if _, ok := actor.UnwrapEnvelopeMessage(message).(Control); ok {
		m.controls.put(message)
		m.PostSystemMessage(wake{})
		return
	}
	m.Mailbox.PostUserMessage(message)
}

func (m mailbox) RegisterHandlers(i actor.MessageInvoker, d actor.Dispatcher) {
	m.Mailbox.RegisterHandlers(invoker{i, m.controls}, d)
}

// invoker hands control messages to the actor's ordinary Receive, on the same
// goroutine.
type invoker struct {
	actor.MessageInvoker
	controls *controls
}

func (i invoker) InvokeSystemMessage(message any) {
	if _, ok := message.(wake); !ok {
		i.MessageInvoker.InvokeSystemMessage(message)
	} else if control, ok := i.controls.take(); ok { // else a user message has had it handled before itself
		i.MessageInvoker.InvokeUserMessage(control)
	}
}

// InvokeUserMessage first handles the controls that are there: the library looks for
// system messages and then takes a user message, and between the two a control and a
// message sent behind it may both come.
func (i invoker) InvokeUserMessage(message any) {
	for control, ok := i.controls.take(); ok; control, ok = i.controls.take() {
		i.MessageInvoker.InvokeUserMessage(control)
	}
	i.MessageInvoker.InvokeUserMessage(message)
}
