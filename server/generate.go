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
	id    string // that the client is told
	model *Model
	name  string // of the model or adapter, as it was asked for

	shared texts.Request // but for the prompt
	prompt string        // the parameter that has the prompts
	ids    [][]int32     // of each prompt
	open   []texts.Stream
}

// encode turns the prompts of a call into ids.
func (c *call) encode(ctx context.Context, list []texts.Prompt) error {
	info := c.model.Engine.Info()
	if n, most := len(list)*c.shared.N, info.QueueSize; n > most {
		return bad(c.prompt, "asks for %d sequences over all prompts, the queue takes %d", n, most)
	}
	for _, p := range list {
		ids, err := c.model.Texts.Encode(ctx, p)
		if err != nil {
			return err
		}
		c.ids = append(c.ids, ids)
	}
	return nil
}

// begin submits the requests, all or none. They live as long as ctx, which the caller ends
// when there is an error.
func (c *call) begin(ctx context.Context) error {
	for i, ids := range c.ids {
		r := c.shared
		r.ID, r.Prompt = c.id, texts.Prompt{IDs: ids}
		if len(c.ids) > 1 {
			r.ID = fmt.Sprintf("%s:%d", c.id, i)
		}
		first, err := c.model.Texts.Generate(ctx, r)
		if errors.Is(err, engine.ErrTooLong) {
			return fmt.Errorf("%w (the prompt has %d tokens, the context of the model %d)", err, len(ids), c.model.Engine.Info().MaxContext)
		}
		if err != nil {
			return err
		}
		c.open = append(append(c.open, first), first.Children()...)
	}
	return nil
}

// promptOf is the ids of the prompt of a sequence.
func (c *call) promptOf(sequence int) []int32 { return c.ids[sequence/c.shared.N] }

// wait waits for all sequences. An error is that of one that failed, or why ctx has ended.
func (c *call) wait(ctx context.Context) ([]texts.Output, error) {
	outs := make([]texts.Output, len(c.open))
	for i, s := range c.open {
		outs[i] = s.Wait(ctx)
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
			if end := n.chunk.Final; end != nil {
				left--
				if end.FinishReason == engine.FinishFailed {
					return end.Err
				}
			}
			if err := f(n.sequence, n.chunk); err != nil {
				return err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// usage counts the tokens of a call.
type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
	Details    struct {
		Cached int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

// add counts a sequence; those of one prompt count it once.
func (u *usage) add(sequence, n int, out *texts.Output) {
	if sequence%n == 0 {
		u.Prompt += out.Usage.PromptTokens
		u.Details.Cached += out.Usage.CachedTokens
	}
	u.Completion += out.Usage.CompletionTokens
	u.Total = u.Prompt + u.Completion
}

// finish is why a sequence ended, in OpenAI's words where it has one, and vLLM's
// stop_reason: the stop string, or the id of stop_token_ids.
func finish(out *texts.Output, stopIDs []int32) (reason string, by any) {
	switch out.FinishReason {
	case engine.FinishStop:
		if out.Stopped != "" {
			return "stop", out.Stopped
		}
		if n := len(out.TokenIDs); n > 0 {
			for _, id := range stopIDs {
				if id == out.TokenIDs[n-1] {
					return "stop", id
				}
			}
		}
		return "stop", nil
	case engine.FinishLength:
		return "length", nil
	case engine.FinishDeadline:
		return "deadline", nil
	case engine.FinishStale:
		return "stale", nil
	}
	return "abort", nil
}

// find is the model that a client asks for, or the model of the adapter of the name; "": the
// only one there is.
func (s *Server) find(name string) (m *Model, adapter string, err error) {
	if name == "" && len(s.models) > 1 {
		return nil, "", bad("model", "is missing: %d models are served", len(s.models))
	}
	for i := range s.models {
		if m := &s.models[i]; name == "" || m.Name == name {
			return m, "", nil
		}
	}
	for i := range s.models {
		for _, a := range s.models[i].Engine.Adapters() {
			if a.Name == name {
				return &s.models[i], name, nil
			}
		}
	}
	return nil, "", &refusal{http.StatusNotFound, fmt.Sprintf("the model %.200q does not exist: /v1/models has those that do", name), "model", "model_not_found"}
}

// newCall settles what all routes that generate share. kind begins the id of the answer.
func (s *Server) newCall(r *http.Request, kind, prompt string, p *params) (*call, error) {
	m, adapter, err := s.find(p.Model)
	if err != nil {
		return nil, err
	}
	c := &call{id: kind + idOf(r), model: m, name: m.Name, prompt: prompt}
	if adapter != "" {
		c.name = adapter
	}
	if c.shared, err = p.request(m, s.options.SaltByUser); err != nil {
		return nil, err
	}
	c.shared.Adapter = adapter
	return c, nil
}
