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
// A Config is resolved in one place: Fields is the table of its entries, from which
// checks, flags, files, environment and documentation come; Resolve decides each and
// says why, and plans the memory; package settings reads files and environment.
//
// Ownership: an Engine owns its actors, its executor (also one that was passed in)
// and the cache; the checkpoint stays the caller's and may be closed after Spawn.
//
// Concurrency: every method may be called from any goroutine. A Stream is read by
// one goroutine at a time.
package engine
