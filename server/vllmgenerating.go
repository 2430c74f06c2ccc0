package server

import (
	"context"
	"time"

	"github.com/cbactor/cbactor/engine/texts"
	"github.com/cbactor/cbactor/sampling"
)

// generated is what POST /inference/v1/generate answers, and a chunk of its stream.
type generated struct {
	RequestID string            `json:"request_id"`
	Model     string            `json:"model"`
	Created   int64             `json:"created"`
	Mode      string            `json:"output_mode"`
	Choices   []generatedChoice `json:"choices"`
	Usage     any               `json:"usage"` // nil: not told
	PromptIDs []int32           `json:"prompt_token_ids,omitzero"`
}

type generatedChoice struct {
	Index        int          `json:"index"`
	FinishReason *string      `json:"finish_reason"`
	StopReason   any          `json:"stop_reason"`
	IDs          []int32      `json:"token_ids"`
	Text         *string      `json:"text,omitzero"`   // in mode text
	Logprobs     any          `json:"logprobs"`        // idLogprobs, in mode text chatLogprobs; nil: not asked for
	Versions     []weightSpan `json:"weight_versions"` // that sampled the whole output, at its end
	provenance
}

// idLogprobs are log-probabilities of tokens that are told by their ids.
type idLogprobs struct {
	Content []idLogprob `json:"content"`
}

type idLogprob struct {
	idLikely
	Top []idLikely `json:"top_logprobs"` // the token itself, then the likeliest others that were asked for
}

// idLikely is a token with its log-probability.
type idLikely struct {
	ID      int32   `json:"token_id"`
	Logprob float64 `json:"logprob"`
	Rank    *int    `json:"rank"` // from 1, among all; nil: it is none of the likeliest that were asked for
}

// generating writes the answers of a call for token ids.
type generating struct {
	*call
	params *generateParams
	base   generated // without choices
	begun  bool      // a first chunk was made
}

// prepare implements answers.
func (a *generating) prepare(context.Context, []texts.Prompt) error {
	a.base = generated{RequestID: a.request, Model: a.name, Created: time.Now().Unix(), Mode: "tokens"}
	return nil
}

// whole implements answers.
func (a *generating) whole(outs []texts.Output, sum *usage) any {
	answer := a.base
	answer.Usage = sum
	if a.params.ReturnIDs {
		answer.PromptIDs = a.promptOf(0)
	}
	for i := range outs {
		out := &outs[i]
		answer.Choices = append(answer.Choices, a.choice(i, &texts.Chunk{Chunk: chunkOf(out), Text: out.Text}, out))
	}
	return answer
}

// begin implements answers.
func (a *generating) begin() []event { return nil }

// chunk implements answers.
func (a *generating) chunk(i int, c texts.Chunk) []event {
	if len(c.TokenIDs) == 0 && c.Text == "" && c.Final == nil {
		return nil
	}
	answer := a.base
	answer.Choices = []generatedChoice{a.choice(i, &c, c.Final)}
	if a.params.ReturnIDs && !a.begun {
		answer.PromptIDs = a.promptOf(i)
	}
	a.begun = true
	return []event{{data: answer}}
}

// last implements answers.
func (a *generating) last(sum *usage) []event {
	answer := a.base
	answer.Choices, answer.Usage = []generatedChoice{}, sum
	return plainLast(a.params.StreamOptions, answer)
}

// failed implements answers.
func (a *generating) failed(r *refusal) []event { return plainFailed(r) }

// choice is what is told of tokens; out is nil before the end.
func (a *generating) choice(i int, c *texts.Chunk, out *texts.Output) generatedChoice {
	choice := generatedChoice{Index: i, IDs: append([]int32{}, c.TokenIDs...), provenance: a.of(c, out)}
	asked := a.params.Sampling.Logprobs != nil
	if a.params.Mode == "text" {
		choice.Text = &c.Text
		if asked {
			choice.Logprobs = a.speller(false).chat(c.Logprobs, asked)
		}
	} else if asked {
		choice.Logprobs = byIDs(c.Logprobs)
	}
	if out != nil {
		reason, by := finish(out, a.shared.StopIDs)
		choice.FinishReason, choice.StopReason, choice.Versions = &reason, by, a.model.spans(out.WeightVersions)
	}
	return choice
}

// byIDs tells of tokens by their ids.
func byIDs(drawn []sampling.Drawn) idLogprobs {
	l := idLogprobs{Content: make([]idLogprob, len(drawn))}
	for i, d := range drawn {
		own := idLikely{ID: d.ID, Logprob: finite(d.Raw)}
		others := make([]idLikely, 1, len(d.Top)+1)
		for k, t := range d.Top {
			if rank := k + 1; t.ID == d.ID {
				own.Rank = &rank
			} else {
				others = append(others, idLikely{t.ID, finite(t.Raw), &rank})
			}
		}
		others[0] = own
		l.Content[i] = idLogprob{own, others}
	}
	return l
}
