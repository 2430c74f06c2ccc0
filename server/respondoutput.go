package server

import (
	"crypto/rand"

	"github.com/cbactor/cbactor/engine/texts"
	"github.com/cbactor/cbactor/sampling"
)

// chunk implements answers.
func (a *responding) chunk(_ int, c texts.Chunk) (list []event) {
	a.end = c.Final
	words, calls := a.hearing.hear(&c)
	a.take(c.Logprobs)
	a.made.add(a.of(&c, nil))
	ends := c.Final != nil && (a.message >= 0 || len(a.output) == 0 && len(calls) == 0)
	if words != "" || ends {
		list = a.say(words)
	}
	for _, call := range calls {
		list = append(list, a.callFor(call)...)
	}
	return list
}

// take tells of tokens, where that was asked for.
func (a *responding) take(drawn []sampling.Drawn) {
	if a.params.logprobs() {
		news := a.speller(a.params.TokensAsIDs).chat(drawn, true).Content
		a.told, a.untold = append(a.told, news...), append(a.untold, news...)
	}
}

// say adds words to the message, and begins it with the first ones.
func (a *responding) say(words string) (list []event) {
	if a.message < 0 {
		a.message = len(a.output)
		item := outputItem{ID: "msg_" + a.id, Type: "message", Status: "in_progress", Role: "assistant", Content: []outputText{}}
		a.output = append(a.output, item)
		list = []event{
			{"response.output_item.added", itemEvent{a.head("response.output_item.added"), a.message, item}},
			{"response.content_part.added", partEvent{a.head("response.content_part.added"), a.place(), outputText{Type: "output_text"}}},
		}
		a.output[a.message].Content = []outputText{{Type: "output_text"}}
	}
	a.output[a.message].Content[0].Text += words
	if words == "" && len(a.untold) == 0 && a.made.empty() {
		return list
	}
	delta := deltaEvent{a.head("response.output_text.delta"), a.place(), words, a.untold, a.made}
	a.untold, a.made = nil, provenance{}
	return append(list, event{"response.output_text.delta", delta})
}

// place is where an event about the text of the message belongs.
func (a *responding) place() place { return place{a.output[a.message].ID, a.message, 0} }

// callFor adds a part of a call to the output.
func (a *responding) callFor(part toolCall) (list []event) {
	if *part.Index == len(a.calls) {
		item := outputItem{ID: "fc_" + rand.Text(), Type: "function_call", Status: "in_progress", CallID: part.ID, Name: part.Function.Name, Arguments: new("")}
		a.calls = append(a.calls, len(a.output))
		list = append(list, event{"response.output_item.added", itemEvent{a.head("response.output_item.added"), len(a.output), item}})
		item.Arguments = new("") // that of the event stays empty
		a.output = append(a.output, item)
	}
	if part.Function.Arguments == "" {
		return list
	}
	at := a.calls[*part.Index]
	*a.output[at].Arguments += part.Function.Arguments
	delta := argumentsDeltaEvent{a.head("response.function_call_arguments.delta"), callPlace{a.output[at].ID, at}, part.Function.Arguments, a.made}
	a.made = provenance{}
	return append(list, event{"response.function_call_arguments.delta", delta})
}
