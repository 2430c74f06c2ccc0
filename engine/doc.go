// Package engine generates text from a language model with continuous batching.
// It is what a Go program imports:
//
//	m, err := checkpoint.Open(checkpoint.Embedded) // or a folder, or a .gguf
//	e, err := engine.Spawn(ctx, engine.Config{Checkpoint: m})
//	defer e.Close()
//	s, err := e.AddRequest(ctx, engine.Request{PromptIDs: ids, MaxNewTokens: 64})
//	for {
//		c, err := s.Recv(ctx)               // new tokens as they come; io.EOF after the last
//	}
//
// The engine sees token ids only; package text turns them into text and back.
//
// What comes of requests is read in the way that suits the caller:
//
//	AddRequest              a Stream: new tokens as they come, then the Output
//	AddRequests             ids; each result waits for Result, NextResult or Results, and
//	                        ResultsOf iterates over one of them as it comes
//	Request.Handler, Handle a function that is called
//	GenerateBatch           all outputs, in the order of the requests
//
// These are methods of Front, which an Engine embeds: it takes requests and gives their
// results, whatever the Place that computes them. Clients of engines elsewhere (package
// remote) embed one, too, over a Place of their own. What both do is API.
//
// An engine lives in sessions: Spawn begins one, Stop ends it, after what is open or
// hard, with or without its cache, and Start begins the next with the configuration of
// Spawn; another configuration needs another engine. A crash ends a session, too. Join
// waits for the end, Close is for good.
//
// LoRA adapters come and go while it generates: LoadAdapter, UnloadAdapter, Adapters.
// Request.Adapter names one. Their list (adapters.go) lives as long as an executor.
//
// Weights change while requests run: Update stages others beside those that serve, its
// Commit lets the next plan compute with them, Rollback goes back. Where memory holds one
// set, UpdateInPlace writes over it under a pause. Each token tells which version sampled
// it, and which computed the cache that it came from. Checksum tells whether the weights
// that serve are those that were meant.
//
// Pause stops generation between two steps, for one holder or several; who holds it may
// compute with the model (Hold.Logits) and write its weights (Hold.Weights). Sleep gives the
// memory of cache or weights to others, Wake takes it again. Both keep what is open.
//
// Errors have classes, for errors.Is: ErrRejected will never be accepted, ErrUnavailable
// may be later, ErrFailed was. HTTPStatus and Code are what servers say of them.
//
// Where is computed, Config.Device says: on a GPU of NVIDIA's or on the CPU, and by default on a
// GPU if there is one:
//
//	e, err := engine.Spawn(ctx, engine.Config{Checkpoint: m, Device: engine.OnTheCPU}) // or engine.FirstGPU, "cuda:1"
//
// A GPU that is asked for and cannot be used is ErrDevice. All else is the same on both. A GPU that is lost fails what is open and the sessions after it with
// cuda.ErrDeviceLost: the process has to end for it.
//
// A Config is resolved in one place: Fields is the table of its entries, from which
// checks, flags, files, environment and documentation come; Resolve decides each and
// says why, and plans the memory; package settings reads files and environment.
//
// Ownership: an Engine owns its actors, its executor (also one that was passed in),
// the weights and the cache; the checkpoint stays the caller's and may be closed after
// Spawn. A sequence's record (record.go) is written by intake, or by its Place through a
// Sequence, and read by any number of Streams; it is entered in requests (requests.go) while its id is in use.
//
// With Config.Record an engine writes the log of its run (recording.go): intake's
// goroutine notes a request with its first news and a sequence with its end, whoever
// changes the weights their digest before anything is computed with them.
//
// Concurrency: every method may be called from any goroutine. A Stream is read by
// one goroutine at a time. The engine has a goroutine for each session, one for each
// sequence with a handler, and none for other requests. Locks: life, then that of
// requests, then that of a record, and apart from these that of adapters. All but life
// are held for no longer than a look takes; life for as long as a session begins or the
// engine closes, so that calls that begin or end sessions wait for each other, by who
// changes weights, who waits for steps that run, and by Sleep and Wake. Who gives weights
// back, as Update.Abort does, leaves that to a goroutine if it takes long. Stop and Close
// tell the actors to stop before they wait for it.
package engine
