package server

import (
	"context"
	"time"

	"github.com/cbactor/cbactor/engine/texts"
)

// chatCompletion is the answer of a chat.
type chatCompletion struct {
	ID        string       `json:"id"`
	Object    string       `json:"object"`
	Created   int64        `json:"created"`
	Model     string       `json:"model"`
	Choices   []chatChoice `json:"choices"`
	Usage     any          `json:"usage,omitzero"`
	PromptIDs []int32      `json:"prompt_token_ids,omitzero"`
}

// chatChoice is a sequence, or, with a Delta, what came of it.
type chatChoice struct {
	Index        int           `json:"index"`
	Message      *chatMessage  `json:"message,omitzero"`
	Delta        *chatDelta    `json:"delta,omitzero"`
	Logprobs     *chatLogprobs `json:"logprobs"`
	FinishReason *string       `json:"finish_reason"`
	StopReason   any           `json:"stop_reason"`
	IDs          []int32       `json:"token_ids,omitzero"`
	provenance
}

type chatMessage struct {
	Role      string     `json:"role"`
	Content   *string    `json:"content"` // nil: calls alone
	Refusal   *string    `json:"refusal"` // no model of ours says so
	ToolCalls []toolCall `json:"tool_calls,omitzero"`
}

type chatDelta struct {
	Role      string     `json:"role,omitzero"`
	Content   *string    `json:"content,omitzero"`
	ToolCalls []toolCall `json:"tool_calls,omitzero"`
}

// chatting writes the answers of a call for a chat.
type chatting struct {
	*call
	params  *chatParams
	base    chatCompletion // without choices
	begun   []bool         // of each sequence: its first chunk was made
	hearing []listener     // of each sequence
}

// prepare implements answers.
func (a *chatting) prepare(context.Context, []texts.Prompt) error {
	a.base = chatCompletion{ID: a.id, Object: "chat.completion", Created: time.Now().Unix(), Model: a.name}
	if a.params.Stream {
		a.base.Object = "chat.completion.chunk"
	}
	a.begun, a.hearing = make([]bool, a.shared.N), make([]listener, a.shared.N)
	for i := range a.hearing {
		a.hearing[i] = a.offer.listener()
	}
	return nil
}

// whole implements answers.
func (a *chatting) whole(outs []texts.Output, sum *usage) any {
	answer := a.base
	answer.Usage = sum
	if a.params.ReturnIDs {
		answer.PromptIDs = a.promptOf(0)
	}
	for i := range outs {
		out := &outs[i]
		words, calls := a.offer.answered(out.Text)
		choice := a.choice(i, &texts.Chunk{Chunk: chunkOf(out)}, out, len(calls))
		choice.Message = &chatMessage{Role: "assistant", ToolCalls: calls}
		if words != "" || len(calls) == 0 {
			choice.Message.Content = &words
		}
		answer.Choices = append(answer.Choices, choice)
	}
	return answer
}

// begin implements answers.
func (a *chatting) begin() []event { return nil }

// chunk implements answers.
func (a *chatting) chunk(i int, c texts.Chunk) []event {
	words, calls := a.hearing[i].hear(&c)
	asked := a.params.Logprobs || a.params.ReturnIDs
	choice := a.choice(i, &c, c.Final, a.hearing[i].parser.Calls())
	if words == "" && len(calls) == 0 && c.Final == nil && !(asked && len(c.TokenIDs) > 0) && choice.provenance.empty() {
		return nil
	}
	choice.Delta = &chatDelta{ToolCalls: calls}
	if words != "" || len(calls) == 0 {
		choice.Delta.Content = &words
	}
	answer := a.base
	if !a.begun[i] {
		a.begun[i], choice.Delta.Role = true, "assistant"
		if a.params.ReturnIDs {
			answer.PromptIDs = a.promptOf(i)
		}
	}
	answer.Choices, answer.Usage = []chatChoice{choice}, tally(a.params.StreamOptions)
	return []event{{data: answer}}
}

// last implements answers.
func (a *chatting) last(sum *usage) []event {
	answer := a.base
	answer.Choices, answer.Usage = []chatChoice{}, sum
	return plainLast(a.params.StreamOptions, answer)
}

// failed implements answers.
func (a *chatting) failed(r *refusal) []event { return plainFailed(r) }

// choice is what is told of tokens beside their text, which had so many calls; out is nil
// before the end.
func (a *chatting) choice(i int, c *texts.Chunk, out *texts.Output, calls int) chatChoice {
	choice := chatChoice{Index: i, Logprobs: a.speller(a.params.TokensAsIDs).chat(c.Logprobs, a.params.Logprobs)}
	choice.provenance = a.of(c, out)
	if a.params.ReturnIDs {
		choice.IDs = append([]int32{}, c.TokenIDs...)
	}
	if out != nil {
		reason, by := finish(out, a.shared.StopIDs)
		reason = finished(reason, calls)
		choice.FinishReason, choice.StopReason = &reason, by
	}
	return choice
}
