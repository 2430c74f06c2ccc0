package server

import (
	"crypto/rand"

	"github.com/cbactor/cbactor/engine/texts"
	"github.com/cbactor/cbactor/text/tools"
)

// toolCall is a call of a function: in a conversation, in an answer, or, with an Index, a
// part of one in a stream.
type toolCall struct {
	Index    *int   `json:"index,omitzero"`
	ID       string `json:"id,omitzero"`
	Type     string `json:"type,omitzero"`
	Function called `json:"function"`
}

type called struct {
	Name      string `json:"name,omitzero"`
	Arguments string `json:"arguments"` // JSON, if the model has written such
}

// newCallID names a call; OpenAI's names begin so, too.
func newCallID() string { return "call_" + rand.Text() }

// answered is a text as its words and the calls in it.
func (o *offer) answered(text string) (words string, calls []toolCall) {
	words, found := tools.Parse(o.style, text)
	for i, c := range found {
		if i == 0 || !o.single {
			calls = append(calls, toolCall{ID: newCallID(), Type: "function", Function: called(c)})
		}
	}
	return words, calls
}

// listener finds the words and the calls in a text that is streamed.
type listener struct {
	parser *tools.Parser
	single bool
}

func (o *offer) listener() listener { return listener{tools.NewParser(o.style), o.single} }

// hear gives what has become certain with a chunk.
func (l listener) hear(c *texts.Chunk) (words string, calls []toolCall) {
	news := l.parser.Push(c.Text)
	if c.Final != nil {
		news = append(news, l.parser.Finish()...)
	}
	for _, d := range news {
		if d.Name == "" && d.Arguments == "" {
			words += d.Text
			continue
		}
		if d.Call > 0 && l.single {
			continue
		}
		part := toolCall{Index: &d.Call, Function: called{d.Name, d.Arguments}}
		if d.Name != "" {
			part.ID, part.Type = newCallID(), "function"
		}
		calls = append(calls, part)
	}
	return words, calls
}

// finished is the reason for which a text has ended that has calls.
func finished(reason string, calls int) string {
	if reason == "stop" && calls > 0 {
		return "tool_calls"
	}
	return reason
}
