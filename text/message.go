package text

import (
	"encoding/json"
	"unicode/utf8"

	"github.com/ardanlabs/jinja"
)

// Message is one turn of a conversation.
type Message struct {
	Role    string `json:"role"` // "system", "user", "assistant", "tool", or what else the template knows
	Content string `json:"content"`

	ToolCalls  []ToolCall `json:"tool_calls,omitempty"`   // what an assistant asked for
	ToolCallID string     `json:"tool_call_id,omitempty"` // of a tool: the call that this answers
	Name       string     `json:"name,omitempty"`         // of the tool, or of who speaks
}

// ToolCall is a function that a model wants to be called.
type ToolCall struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"` // as JSON
}

// Valid says whether all of m is UTF-8; other characters would be replaced.
func (m Message) Valid() bool {
	valid := utf8.ValidString(m.Role) && utf8.ValidString(m.Content) && utf8.ValidString(m.ToolCallID) && utf8.ValidString(m.Name)
	for _, c := range m.ToolCalls {
		valid = valid && utf8.ValidString(c.ID) && utf8.ValidString(c.Name) && utf8.ValidString(c.Arguments)
	}
	return valid
}

// value is the message as a template sees it: what is empty is not there, but for role
// and content.
func (m Message) value() jinja.Value {
	v := jinja.NewDict()
	v.AsDict().Set("role", jinja.NewString(m.Role))
	v.AsDict().Set("content", jinja.NewString(m.Content))
	if len(m.ToolCalls) > 0 {
		calls := make([]jinja.Value, len(m.ToolCalls))
		for i, c := range m.ToolCalls {
			calls[i] = c.value()
		}
		v.AsDict().Set("tool_calls", jinja.NewList(calls))
	}
	if m.ToolCallID != "" {
		v.AsDict().Set("tool_call_id", jinja.NewString(m.ToolCallID))
	}
	if m.Name != "" {
		v.AsDict().Set("name", jinja.NewString(m.Name))
	}
	return v
}

// value is the call in the shape that Transformers documents for templates: arguments
// are a dict, or a string where they are no JSON.
func (c ToolCall) value() jinja.Value {
	arguments, err := jsonValue(json.RawMessage(c.Arguments))
	if err != nil {
		arguments = jinja.NewString(c.Arguments)
	}
	function := jinja.NewDict()
	function.AsDict().Set("name", jinja.NewString(c.Name))
	function.AsDict().Set("arguments", arguments)
	v := jinja.NewDict()
	v.AsDict().Set("id", jinja.NewString(c.ID))
	v.AsDict().Set("type", jinja.NewString("function"))
	v.AsDict().Set("function", function)
	return v
}
