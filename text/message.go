package text

import (
	"slices"
	"unicode/utf8"

	"github.com/cbactor/cbactor/text/jinja"
)

// Message is one turn of a conversation.
type Message struct {
	Role    string `json:"role"` // "system", "user", "assistant", "tool", or what else the template knows
	Content string `json:"content"`

	// Parts are the content where it came in several texts; Content is empty then. A
	// template that goes through the parts of such a message is given them as OpenAI writes
	// them, any other one the parts with line ends between them.
	Parts []string `json:"parts,omitempty"`

	Reasoning string `json:"reasoning_content,omitempty"` // what an assistant thought before its answer

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
	texts := append([]string{m.Role, m.Content, m.Reasoning, m.ToolCallID, m.Name}, m.Parts...)
	for _, c := range m.ToolCalls {
		texts = append(texts, c.ID, c.Name, c.Arguments)
	}
	return !slices.ContainsFunc(texts, func(s string) bool { return !utf8.ValidString(s) })
}

// knownRoles are what templates build control tokens of, such as <|user|>. Any other
// role is text of the request like all the rest of it.
var knownRoles = []string{"system", "developer", "user", "assistant", "tool", "function", "ipython", "observation"}

// value is the message as a template sees it: what is empty is not there, but for role
// and content. Reasoning is there under the two names that templates have for it. end comes
// behind the content.
func (m Message) value(takes capabilities, end string) jinja.Value {
	v := jinja.NewDict()
	set := func(name string, x jinja.Value) { v.Set(jinja.String(name), x) }
	if m.Reasoning != "" {
		set("thinking", jinja.Foreign(m.Reasoning))
	}
	set("role", jinja.Foreign(m.Role))
	if slices.Contains(knownRoles, m.Role) {
		set("role", jinja.String(m.Role))
	}
	set("content", m.content(takes, end))
	if len(m.ToolCalls) > 0 {
		calls := make([]jinja.Value, len(m.ToolCalls))
		for i, c := range m.ToolCalls {
			calls[i] = c.value(takes)
		}
		set("tool_calls", jinja.NewList(calls))
	}
	if m.ToolCallID != "" {
		set("tool_call_id", jinja.Foreign(m.ToolCallID))
	}
	if m.Name != "" {
		set("name", jinja.Foreign(m.Name))
	}
	if m.Reasoning != "" {
		set("reasoning_content", jinja.Foreign(m.Reasoning))
	}
	return v
}

// value is the call in the shape that Transformers documents for templates: arguments
// are a dict, or a string where they are no JSON or the template wants one.
func (c ToolCall) value(takes capabilities) jinja.Value {
	arguments, err := jsonValue([]byte(c.Arguments))
	if err != nil || takes.textCalls {
		arguments = jinja.Foreign(c.Arguments)
	}
	function := jinja.NewDict()
	function.Set(jinja.String("name"), jinja.Foreign(c.Name))
	function.Set(jinja.String("arguments"), arguments)
	v := jinja.NewDict()
	v.Set(jinja.String("id"), jinja.Foreign(c.ID))
	v.Set(jinja.String("type"), jinja.String("function"))
	v.Set(jinja.String("function"), function)
	return v
}
