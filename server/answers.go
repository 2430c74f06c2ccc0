package server

import (
	"context"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/texts"
)

// answers writes what a route answers with, for one call.
type answers interface {
	// prepare comes before the requests are submitted, when the ids of the prompts are known.
	prepare(ctx context.Context, list []texts.Prompt) error
	// whole is the answer of a call that is not streamed.
	whole(outs []texts.Output, usage jsontext.Value) any
	// chunk is the event about what came of a sequence; false: there is nothing to tell yet.
	chunk(sequence int, c texts.Chunk) (event any, some bool)
	// last is the event with the usage.
	last(usage jsontext.Value) any
}

// generate answers a call.
func (s *Server) generate(w http.ResponseWriter, r *http.Request, c *call, p *params, list []texts.Prompt, a answers) error {
	ctx, leave, err := s.enter(r)
	if err != nil {
		return err
	}
	defer leave()
	if err = c.encode(ctx, list); err == nil {
		err = a.prepare(ctx, list)
	}
	if err == nil {
		err = c.begin(ctx)
	}
	if err != nil {
		return refusalOf(err, c.prompt)
	}
	if p.Stream {
		return s.streamed(ctx, w, c, p, a)
	}
	outs, err := c.wait(ctx)
	if err != nil {
		return err
	}
	var sum usage
	for i := range outs {
		sum.add(i, c.shared.N, &outs[i])
	}
	told, err := encode(sum)
	if err != nil {
		return err
	}
	return s.answer(w, http.StatusOK, a.whole(outs, told))
}

// streamed answers a call with events. What goes wrong from now on is told by one.
func (s *Server) streamed(ctx context.Context, w http.ResponseWriter, c *call, p *params, a answers) error {
	e, err := s.stream(w)
	if err != nil {
		e.end(err)
		return nil
	}
	var sum usage
	err = c.follow(ctx, func(i int, chunk texts.Chunk) error {
		if chunk.Final != nil {
			sum.add(i, c.shared.N, chunk.Final)
		}
		event, some := a.chunk(i, chunk)
		if !some {
			return nil
		}
		return e.send(event)
	})
	if err == nil && p.StreamOptions != nil && p.StreamOptions.IncludeUsage {
		var told jsontext.Value
		if told, err = encode(sum); err == nil {
			err = e.send(a.last(told))
		}
	}
	e.end(err)
	return nil
}

// tally is what the events of a stream have for usage before the last one: nothing, or null.
func tally(options *streamOptions) jsontext.Value {
	if options != nil && options.IncludeUsage {
		return jsontext.Value("null")
	}
	return nil
}

// chunkOf is all of an output as what came at once.
func chunkOf(out *texts.Output) engine.Chunk {
	return engine.Chunk{RequestID: out.RequestID, TokenIDs: out.TokenIDs, Logprobs: out.Logprobs}
}
