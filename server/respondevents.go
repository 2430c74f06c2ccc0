package server

import (
	"github.com/cbactor/cbactor/engine/texts"
	"github.com/cbactor/cbactor/sampling"
)

// The events of POST /v1/responses, as one struct each; they are numbered in one row.

type eventHead struct {
	Type     string `json:"type"`
	Sequence int    `json:"sequence_number"`
}

type responseEvent struct {
	eventHead
	Response response `json:"response"`
}

type itemEvent struct {
	eventHead
	OutputIndex int        `json:"output_index"`
	Item        outputItem `json:"item"`
}

// place is where in the output an event about its text belongs.
type place struct {
	ItemID       string `json:"item_id"`
	OutputIndex  int    `json:"output_index"`
	ContentIndex int    `json:"content_index"`
}

type partEvent struct {
	eventHead
	place
	Part outputText `json:"part"`
}

type deltaEvent struct {
	eventHead
	place
	Delta    string         `json:"delta"`
	Logprobs []tokenLogprob `json:"logprobs"`
	provenance
}

type textEvent struct {
	eventHead
	place
	Text     string         `json:"text"`
	Logprobs []tokenLogprob `json:"logprobs"`
}

type errorEvent struct {
	eventHead
	Message string  `json:"message"`
	Param   *string `json:"param"`
	Code    *string `json:"code"`
}

// head begins the next event.
func (a *responding) head(kind string) eventHead {
	a.count++
	return eventHead{kind, a.count - 1}
}

func (a *responding) place() place { return place{ItemID: a.itemID()} }

// take tells of tokens, where that was asked for, and gives what is new.
func (a *responding) take(drawn []sampling.Drawn) []tokenLogprob {
	if !a.params.logprobs() {
		return nil
	}
	news := a.speller(a.params.TokensAsIDs).chat(drawn, true).Content
	a.told = append(a.told, news...)
	return news
}

// begin implements answers.
func (a *responding) begin() []event {
	return []event{
		{"response.created", responseEvent{a.head("response.created"), a.base}},
		{"response.in_progress", responseEvent{a.head("response.in_progress"), a.base}},
		{"response.output_item.added", itemEvent{eventHead: a.head("response.output_item.added"), Item: a.item("in_progress")}},
		{"response.content_part.added", partEvent{a.head("response.content_part.added"), a.place(), outputText{Type: "output_text"}}},
	}
}

// chunk implements answers.
func (a *responding) chunk(_ int, c texts.Chunk) []event {
	a.end = c.Final
	news, made := a.take(c.Logprobs), a.of(&c, nil)
	if c.Text == "" && len(news) == 0 && made.empty() {
		return nil
	}
	return []event{{"response.output_text.delta", deltaEvent{a.head("response.output_text.delta"), a.place(), c.Text, news, made}}}
}

// last implements answers.
func (a *responding) last(sum *usage) []event {
	answer := a.complete(sum)
	kind := "response." + answer.Status
	return []event{
		{"response.output_text.done", textEvent{a.head("response.output_text.done"), a.place(), a.end.Text, a.told}},
		{"response.content_part.done", partEvent{a.head("response.content_part.done"), a.place(), a.part()}},
		{"response.output_item.done", itemEvent{eventHead: a.head("response.output_item.done"), Item: answer.Output[0]}},
		{kind, responseEvent{a.head(kind), answer}},
	}
}

// failed implements answers.
func (a *responding) failed(r *refusal) []event {
	told := r.body().Error
	return []event{{"error", errorEvent{a.head("error"), told.Message, told.Param, told.Code}}}
}
