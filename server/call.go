package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/texts"
)

// call is one call that generates: its prompts, with the same number of sequences each.
type call struct {
	id      string // that the client is told
	request string // what the client calls it itself
	model   *Model
	name    string // of the model or adapter, as it was asked for

	shared    texts.Request                  // but for the prompt
	each      func(prompt int) texts.Request // what holds for one in the place of shared, with an id; nil: nothing
	prompt    string                         // the parameter that has the prompts
	least     string                         // that which has the least number of tokens
	format    string                         // that which asks for a format; "": none
	offer     offer                          // of functions
	processed bool                           // the log-probabilities of what was drawn from are told
	ids       [][]int32                      // of each prompt
	open      []texts.Stream
	ended     []bool // of each: its account was noted
	account   *account
}

// newCall settles what all routes that generate share. kind begins the id of the answer.
func (s *Server) newCall(r *http.Request, kind, prompt string, p *params) (*call, error) {
	m, adapter, err := s.find(p.Model)
	if err != nil {
		return nil, err
	}
	c := &call{id: kind + idOf(r), request: idOf(r), model: m, name: m.Name, prompt: prompt, least: "min_tokens", processed: p.Processed}
	if adapter != "" {
		c.name = adapter
	}
	if c.shared, err = p.request(m, s.options.SaltByUser); err != nil {
		return nil, err
	}
	c.shared.Adapter = adapter
	return c, nil
}

// hold has the texts of a call hold to a format, and offers its model functions.
func (c *call) hold(f format, t *toolParams) (err error) {
	if c.offer, err = t.offer(c.model, &f); err != nil {
		return err
	}
	c.format = f.param
	return f.put(&c.shared)
}

// refusal is an error of a call as its client is told of it.
func (c *call) refusal(err error) *refusal {
	r := refusalAbout(err, c.prompt, c.format)
	if r.code != engine.Code(engine.ErrPaused) {
		return r
	}
	if sleeps, _ := c.model.sleeps(); sleeps {
		return &refusal{r.status, "the model sleeps: POST /wake_up has it go on", "", engine.Code(engine.ErrAsleep)}
	}
	return &refusal{r.status, "generation is paused: POST /resume has it go on, unless others hold the pause", "", r.code}
}

// encode turns the prompts of a call into ids.
func (c *call) encode(ctx context.Context, list []texts.Prompt) error {
	info := c.model.Engine.Info()
	if n, most := len(list)*c.shared.N, info.QueueSize; n > most {
		return bad(c.prompt, "asks for %d sequences over all prompts, the queue takes %d", n, most)
	}
	for i, p := range list {
		ids, err := c.model.Texts.Encode(ctx, p)
		if err != nil {
			return err
		}
		c.ids = append(c.ids, ids)
		r := c.requestOf(i)
		if err := c.admissible(&r, len(ids)); err != nil {
			return err
		}
	}
	return nil
}

// begin submits the requests, all or none. They live as long as ctx, which the caller ends
// when there is an error.
func (c *call) begin(ctx context.Context) error {
	for i, ids := range c.ids {
		r := c.requestOf(i)
		r.Prompt = texts.Prompt{IDs: ids}
		r.Sampling.Tell.Logprobs = r.Sampling.Tell.Logprobs || c.processed
		r.Timestamps = c.model.Engine.Info().MaxContext <= maxMoments
		first, err := c.model.Texts.Generate(ctx, r)
		if errors.Is(err, engine.ErrTooLong) {
			return fmt.Errorf("%w (the prompt has %d tokens, the context of the model %d)", err, len(ids), c.model.Engine.Info().MaxContext)
		}
		if err != nil {
			return err
		}
		c.open = append(append(c.open, first), first.Children()...)
		c.ended = make([]bool, len(c.open))
	}
	return nil
}

// requestOf is the request of a prompt, but for that.
func (c *call) requestOf(prompt int) texts.Request {
	if c.each != nil {
		return c.each(prompt)
	}
	r := c.shared
	r.ID = c.id
	if len(c.ids) > 1 {
		r.ID = fmt.Sprintf("%s:%d", c.id, prompt)
	}
	return r
}

// end notes how a sequence has ended.
func (c *call) end(sequence int, out *texts.Output) {
	c.ended[sequence] = true
	c.account.ended(sequence, out)
}

// settle notes how those have ended that nobody has read to their end, which comes at once as
// their context, ctx, has ended.
func (c *call) settle(ctx context.Context) {
	for i := range c.ended {
		if !c.ended[i] {
			out := c.open[i].Wait(ctx)
			c.end(i, &out)
		}
	}
}

// promptOf is the ids of the prompt of a sequence.
func (c *call) promptOf(sequence int) []int32 { return c.ids[sequence/c.shared.N] }

// wait waits for all sequences. An error is that of one that failed, or why ctx has ended.
func (c *call) wait(ctx context.Context) ([]texts.Output, error) {
	outs := make([]texts.Output, len(c.open))
	for i, s := range c.open {
		outs[i] = s.Wait(ctx)
		c.end(i, &outs[i])
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	for _, out := range outs {
		if out.FinishReason == engine.FinishFailed {
			return nil, out.Err
		}
	}
	return outs, nil
}

// news is what came of a sequence, by its place in the call.
type news struct {
	sequence int
	chunk    texts.Chunk
}

// follow gives what comes of all sequences to f, one after the other, until all have ended.
// The error is f's, that of a sequence that failed, or why ctx has ended.
func (c *call) follow(ctx context.Context, f func(sequence int, chunk texts.Chunk) error) error {
	if len(c.open) == 1 {
		return c.followOne(ctx, f)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	out := make(chan news)
	var readers sync.WaitGroup
	for i, s := range c.open {
		readers.Go(func() {
			for {
				chunk, err := s.Recv(ctx)
				if err != nil {
					return // the end of ctx, as the last chunk was not read
				}
				select {
				case out <- news{i, chunk}:
				case <-ctx.Done():
					return
				}
				if chunk.Final != nil {
					return
				}
			}
		})
	}
	defer readers.Wait()
	defer cancel(nil)
	for left := len(c.open); left > 0; {
		select {
		case n := <-out:
			if n.chunk.Final != nil {
				left--
			}
			if err := c.arrived(ctx, n.sequence, n.chunk, f); err != nil {
				return err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// followOne is follow of one sequence, which needs no goroutine of its own.
func (c *call) followOne(ctx context.Context, f func(sequence int, chunk texts.Chunk) error) error {
	for {
		chunk, err := c.open[0].Recv(ctx)
		if err != nil {
			return context.Cause(ctx) // the end of ctx, as the last chunk was not read
		}
		if err := c.arrived(ctx, 0, chunk, f); err != nil || chunk.Final != nil {
			return err
		}
	}
}

// arrived gives f what came of a sequence, whose end is noted. The error is f's, that of a
// sequence that failed, or why ctx has ended where that has ended the sequence.
func (c *call) arrived(ctx context.Context, sequence int, chunk texts.Chunk, f func(sequence int, chunk texts.Chunk) error) error {
	if end := chunk.Final; end != nil {
		c.end(sequence, end)
		switch {
		case end.FinishReason == engine.FinishFailed:
			return end.Err
		case end.FinishReason == engine.FinishCancelled && ctx.Err() != nil: // it was read before the end of ctx was seen
			return context.Cause(ctx)
		}
	}
	return f(sequence, chunk)
}
