package server

import (
	"context"
	"net/http"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/texts"
)

// answers words what a route answers with, for one call.
type answers interface {
	// prepare comes before the requests are submitted, when the ids of the prompts are known.
	prepare(ctx context.Context, list []texts.Prompt) error
	// whole is the answer of a call that is not streamed.
	whole(outs []texts.Output, sum *usage) any
	// begin, chunk and last are the events of one that is: before anything has come, about
	// what came of a sequence, if there is anything to tell yet, and when all have ended.
	begin() []event
	chunk(sequence int, c texts.Chunk) []event
	last(sum *usage) []event
	// failed are the events in the place of further ones.
	failed(r *refusal) []event
}

// generate answers a call.
func (s *Server) generate(w http.ResponseWriter, r *http.Request, c *call, p *params, list []texts.Prompt, a answers) error {
	c.account = accountOf(r)
	c.account.model, c.account.asked, c.account.meters = c.name, &c.shared, s.meters.sequences[c.model.Name]
	ctx, leave, err := s.enter(r)
	if err != nil {
		return err
	}
	defer func() {
		leave()
		c.settle(ctx)
	}()
	if err = c.encode(ctx, list); err == nil {
		err = a.prepare(ctx, list)
	}
	if err == nil {
		err = c.begin(ctx)
	}
	if err != nil {
		return c.refusal(err)
	}
	defer s.open.enter(c)()
	if p.Stream {
		c.model.stamp(w.Header())
		return s.streamed(ctx, w, c, a)
	}
	outs, err := c.wait(ctx)
	if err != nil {
		return c.refusal(err)
	}
	var sum usage
	for i := range outs {
		sum.add(i, c.shared.N, &outs[i])
	}
	c.model.stamp(w.Header())
	return s.answer(w, http.StatusOK, a.whole(outs, &sum))
}

// streamed answers a call with events. What goes wrong from now on is told by one.
func (s *Server) streamed(ctx context.Context, w http.ResponseWriter, c *call, a answers) error {
	e := s.stream(w)
	err := e.send(a.begin())
	var sum usage
	if err == nil {
		err = c.follow(ctx, func(i int, chunk texts.Chunk) error {
			if chunk.Final != nil {
				sum.add(i, c.shared.N, chunk.Final)
			}
			return e.send(a.chunk(i, chunk))
		})
	}
	if err == nil {
		err = e.send(a.last(&sum))
	}
	if err == nil {
		return nil
	}
	c.account.failed = c.refusal(err)
	if err := e.send(a.failed(c.account.failed)); err != nil {
		s.log.Debug().Err(err).Str("call", c.id).Msg("a client was not told of an error")
	}
	return nil
}

// plainLast is last of routes whose streams end with [DONE], and before it tell of usage
// where they are asked to.
func plainLast(options *streamOptions, answer any) []event {
	if options != nil && options.IncludeUsage {
		return []event{{data: answer}, {}}
	}
	return []event{{}}
}

// plainFailed is failed of these routes.
func plainFailed(r *refusal) []event { return []event{{data: r.body()}, {}} }

// tally is what their other events have for usage: nothing, or null where it comes later.
func tally(options *streamOptions) any {
	if options != nil && options.IncludeUsage {
		return (*usage)(nil)
	}
	return nil
}

// chunkOf is all of an output as what came at once.
func chunkOf(out *texts.Output) engine.Chunk {
	return engine.Chunk{RequestID: out.RequestID, TokenIDs: out.TokenIDs, Logprobs: out.Logprobs}
}
