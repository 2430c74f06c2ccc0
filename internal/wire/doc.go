// Package wire carries messages of actors between processes: over gRPC, in the
// envelopes of protoactor's Remoting service, over connections that clients open.
//
// A Server listens; a client Dials it. Each side has a PID that stands for the other one on this
// connection: what is sent to it arrives at the actor that the other side has chosen for it, in
// order, each message once, as long as the connection lasts; what arrives has that PID as
// its sender. The actor is sent Opened first (on the server), and Closed at last.
//
// What comes is hostile until it is checked. A frame may name one target, one sender and the types
// on a list, and nothing else that protoactor's envelopes have; its parts are counted before memory
// is taken for them. A frame that does not keep to this ends its connection, and nothing else.
//
// Memory is bounded by Limits. What waits to be written is bounded by bytes: a peer that does
// not read is cut, and nobody waits for it; Written paces those who send much. What was read and is not handled yet is
// bounded, too: the connection is not read meanwhile, so that its sender waits.
// A peer that is silent is probed, and one that does not answer is lost.
//
// Ownership: a message belongs to the connection once it is sent, and to the actor once it is
// delivered. Closed ends the use of a PID: what is sent to it later is dropped.
//
// Concurrency: everything may be used from any goroutine, and nothing but Serve, Dial and
// Server.Close blocks. Each connection has a goroutine that reads and one that writes.
package wire
