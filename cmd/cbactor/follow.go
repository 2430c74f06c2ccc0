package main

import (
	"context"

	"github.com/cbactor/cbactor/cmd/cbactor/internal/show"
	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/text"
)

// follow turns the stream of a request into events, to its end. When ctx ends, it
// has the engine cancel the request, so that the end comes.
func (r *runner) follow(ctx context.Context, entry show.Entry, s *engine.Stream) {
	defer context.AfterFunc(ctx, func() { r.model.engine.Cancel(s.ID()) })()
	session := text.NewSession(r.model.codec)
	for {
		chunk, err := s.Recv(context.WithoutCancel(ctx))
		if err != nil { // io.EOF, which only follows the final chunk
			return
		}
		e := show.Event{Entry: entry, Tokens: len(chunk.TokenIDs), Text: session.Push(chunk.TokenIDs)}
		if chunk.Final != nil {
			e.Text += session.Finish()
			e.Result = show.NewResult(*chunk.Final, session.Text())
		}
		r.out <- news{event: e}
	}
}
