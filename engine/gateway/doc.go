// Package gateway lets clients on the network use an engine: it is the serving side of
// messages/remote.proto, over connections of package wire.
//
// Purpose: a client id is a guest, an actor that lives over any number of connections, one
// after the other. It has what its client has asked for: calls by their numbers, sequences
// that are open or not read to their end, holds, updates, files of adapters. So a client that
// loses its connection finds all of it again over the next one. A guest without a connection
// is kept for Options.Kept; then, and by Goodbye, all that it has is cancelled, released and
// aborted.
//
//	connection ─Call, Drop, Ack─▶ guest ──job──▶ a goroutine that asks the engine
//	           ◀─Reply,News,Lost─       ◀─answer─
//	                                    ◀─chunk─ pump: reads one stream, a chunk at a time
//
// A call that arrives twice is obeyed once: its answer is kept until the client says that it
// has it. Calls run beside each other; those about one update, hold or adapter one after the
// other, in the order of their arrival.
//
// Ids of requests are a client's own: the engine has others for them (names.go).
//
// What comes of a sequence waits with its guest until its client takes it, and is told no further
// than the client and its connection have room for: a slow client slows itself (pace.go). One that
// takes nothing has its requests ended, when too much waits (unread.go).
//
// Bounds: see Limits. Who asks for more is told so, and nobody else notices. Calls that free
// something are never refused for want of room (usage.go).
//
// Ownership: a Gateway owns its actors, its server, and what its guests have open; engine and
// texts stay the caller's, who closes the gateway first.
//
// Concurrency: a guest is an actor: its state has one writer, and its Receive never blocks.
// Goroutines: one for each call that is obeyed, one for each open sequence, each hold and each
// update in place; all end with their guest, as soon as the engine returns. The gateway's lock is
// held for no longer than a look at its guests takes.
package gateway
