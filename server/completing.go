package server

import (
	"context"
	"time"

	"github.com/cbactor/cbactor/engine/texts"
	"github.com/cbactor/cbactor/sampling"
)

// completing writes the answers of a call for completions.
type completing struct {
	*call
	params *completionParams
	base   completion           // without choices
	echoes []string             // of each prompt, where they are asked for
	told   []completionLogprobs // of each sequence
	begun  []bool               // likewise: its first chunk was made
}

// prepare implements answers.
func (a *completing) prepare(ctx context.Context, list []texts.Prompt) error {
	n := len(a.ids) * a.shared.N
	a.base = completion{ID: a.id, Object: "text_completion", Created: time.Now().Unix(), Model: a.name}
	a.told, a.begun = make([]completionLogprobs, n), make([]bool, n)
	if !a.params.Echo {
		return nil
	}
	for i, p := range list {
		if p.Text != nil {
			a.echoes = append(a.echoes, *p.Text)
			continue
		}
		s, err := a.model.Texts.Decode(ctx, a.ids[i])
		if err != nil {
			return err
		}
		a.echoes = append(a.echoes, s)
	}
	return nil
}

// whole implements answers.
func (a *completing) whole(outs []texts.Output, sum *usage) any {
	answer := a.base
	answer.Usage = sum
	for i := range outs {
		out := &outs[i]
		choice := a.choice(i)
		choice.Text += out.Text
		if a.params.Logprobs != nil && a.params.Echo {
			s := a.speller(a.params.TokensAsIDs)
			a.scored(i, 0, outs, func(id int32, d *sampling.Drawn) { a.told[i].add(s, id, d) })
		}
		all := texts.Chunk{Chunk: chunkOf(out)}
		choice.provenance = a.of(&all, out)
		a.tell(&choice, &all, out)
		answer.Choices = append(answer.Choices, choice)
	}
	return answer
}

// begin implements answers.
func (a *completing) begin() []event { return nil }

// chunk implements answers.
func (a *completing) chunk(i int, c texts.Chunk) []event {
	echoes := a.params.Echo && !a.begun[i]
	asked := a.params.Logprobs != nil || a.params.ReturnIDs
	made := a.of(&c, c.Final)
	if c.Text == "" && c.Final == nil && !echoes && !(asked && len(c.TokenIDs) > 0) && made.empty() {
		return nil
	}
	choice := a.choice(i)
	choice.provenance = made
	choice.Text += c.Text
	a.tell(&choice, &c, c.Final)
	answer := a.base
	answer.Choices, answer.Usage = []completionChoice{choice}, tally(a.params.StreamOptions)
	return []event{{data: answer}}
}

// last implements answers.
func (a *completing) last(sum *usage) []event {
	answer := a.base
	answer.Choices, answer.Usage = []completionChoice{}, sum
	return plainLast(a.params.StreamOptions, answer)
}

// failed implements answers.
func (a *completing) failed(r *refusal) []event { return plainFailed(r) }

// choice begins what is told of a sequence; the first of it has the prompt.
func (a *completing) choice(i int) completionChoice {
	choice := completionChoice{Index: i}
	if a.begun[i] {
		return choice
	}
	a.begun[i] = true
	if a.params.Echo {
		choice.Text = a.echoes[i/a.shared.N]
	}
	if a.params.ReturnIDs {
		choice.PromptIDs = a.promptOf(i)
	}
	return choice
}

// tell puts into a choice what was asked for beside the text; out is nil before the end.
func (a *completing) tell(choice *completionChoice, c *texts.Chunk, out *texts.Output) {
	if a.params.Logprobs != nil {
		s := a.speller(a.params.TokensAsIDs)
		for at, id := range c.TokenIDs {
			a.told[choice.Index].add(s, id, &c.Logprobs[at])
		}
		choice.Logprobs = a.told[choice.Index].take()
	}
	if a.params.ReturnIDs {
		choice.IDs = append([]int32{}, c.TokenIDs...)
	}
	if out != nil {
		reason, by := finish(out, a.shared.StopIDs)
		choice.FinishReason, choice.StopReason = &reason, by
	}
}
