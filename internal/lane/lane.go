package lane

import "github.com/asynkron/protoactor-go/actor"

// Control marks a message that overtakes queued work. Keep it rare: the lane
// drains before any user message.
type Control interface{ ControlMessage() }

// Wrap adds the control lane to the mailboxes that p produces, for Send, Request
// and delivery from another process alike.
func Wrap(p actor.MailboxProducer) actor.MailboxProducer {
	return func() actor.Mailbox { return mailbox{p()} }
}

// item carries a control message through the system queue.
type item struct{ message any }

type mailbox struct{ actor.Mailbox }

func (m mailbox) PostUserMessage(message any) {
	if _, ok := actor.UnwrapEnvelopeMessage(message).(Control); ok {
		m.PostSystemMessage(item{message})
		return
	}
	m.Mailbox.PostUserMessage(message)
}

func (m mailbox) RegisterHandlers(i actor.MessageInvoker, d actor.Dispatcher) {
	m.Mailbox.RegisterHandlers(invoker{i}, d)
}

// invoker hands items to the actor's ordinary Receive, on the same goroutine.
type invoker struct{ actor.MessageInvoker }

func (i invoker) InvokeSystemMessage(message any) {
	if it, ok := message.(item); ok {
		i.InvokeUserMessage(it.message)
		return
	}
	i.MessageInvoker.InvokeSystemMessage(message)
}
