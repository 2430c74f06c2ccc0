// Package remote is an engine that is elsewhere: in another process, on another machine.
//
//	c, err := remote.Connect(ctx, "engine.example:7000", remote.Options{TLS: certificates})
//	defer c.Close()
//	s, err := c.AddRequest(ctx, engine.Request{PromptIDs: ids, MaxNewTokens: 64})
//
// A Client is an engine.API and a texts.Service: a program runs with it or with an engine.Engine.
// What engine.Front does with requests and results is the same code. What is different:
//
//   - A request has no code in it: a sampling.Processor or a Request.Stop is ErrNotRemote.
//     Stop strings cross, by Generate.
//   - What only the engine can tell of a request is told when it is submitted: so
//     AddRequests may have queued some before another one is refused.
//   - An id of a request that has ended here without a connection is engine.ErrDuplicateID until the
//     engine knows. Other clients may use the same ids.
//   - Times of an Output are by the engine's clock, and begin when it has the request.
//   - Close ends what this client has open, not the engine. Stop stops the engine, for all.
//   - Calls without a context ask for as long as their comment says.
//   - A context that ends is told to the engine. What became of the call is waited for by 5 s.
//
// When the connection ends, what is open goes on: the client connects again, sends again what
// was not answered, which the engine obeys once, and reads on where each sequence was. After
// Options.Patience it gives up: what is open ends with ErrUnreachable, and the next call tries again.
// An engine that has been restarted meanwhile knows nothing of before: ErrRestarted.
//
// Tokens wait here until they are read, as in an engine; what is under way is bounded, so that
// nobody waits for a client but itself. Text is the engine's: it matches, encodes and decodes.
//
// Ownership: a Client has a link (an actor, in an actor system of its own), which has the
// connection, the numbers of calls, the places of sequences, and all that is open. Records of sequences are the
// Front's: the link writes them, through engine.Sequence.
//
// Concurrency: every method may be called from any goroutine. The link's fields are its own; callers
// send it messages, and wait for what it calls. It blocks for nobody. A try to connect has a
// goroutine while it lasts, a connection those of package wire.
package remote
