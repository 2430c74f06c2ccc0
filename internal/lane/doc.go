// Package lane wraps a protoactor mailbox so that control messages overtake
// queued work.
//
// Purpose: pause, stop and their like must be handled after the message being
// handled now, whatever backlog waits. The mailbox posts them as system messages,
// which the library drains before every user message, and hands them to the same
// Receive. What is sent behind a control is handled behind it. They are first-in first-out among themselves and with the actor's
// lifecycle messages, and do not overtake a Receive that is running.
// They are handled while the mailbox is suspended too, and after a panic by the
// broken instance until its supervisor has decided: a handler of controls must
// cope with every state and never panic.
//
// Ownership and concurrency: those of the mailbox wrapped; the queue of controls has a lock of
// its own, held for no longer than a look takes.
package lane
