package text

import (
	"strings"

	"github.com/cbactor/cbactor/text/jinja"
)

// sayer is who says something, as far as templates write it differently.
type sayer uint8

const (
	byUser sayer = iota // or any role that is not known
	bySystem
	byAssistant
	byTool
	byCaller // an assistant that asks for tools
	sayers
)

// contentForm is what content is for a template.
type contentForm uint8

const (
	textForm  contentForm = iota // a string, with line ends between parts
	partsForm                    // a list where it came in parts, else a string
	listForm                     // always a list
)

// sayer is who says m.
func (m Message) sayer() sayer {
	switch m.Role {
	case "system", "developer":
		return bySystem
	case "tool", "function", "ipython", "observation":
		return byTool
	case "assistant":
		if len(m.ToolCalls) > 0 {
			return byCaller
		}
		return byAssistant
	}
	return byUser
}

// content is what the message says: a text, or a list of parts. end comes behind it.
func (m Message) content(takes capabilities, end string) jinja.Value {
	parts := m.Parts
	if parts == nil {
		parts = []string{m.Content}
	}
	form := takes.content[m.sayer()]
	if form == textForm || form == partsForm && m.Parts == nil {
		return jinja.Foreign(strings.Join(parts, "\n")).Append(end)
	}
	list := make([]jinja.Value, len(parts))
	for i, p := range parts {
		text := jinja.Foreign(p)
		if i == len(parts)-1 {
			text = text.Append(end)
		}
		part := jinja.NewDict()
		part.Set(jinja.String("type"), jinja.String("text"))
		part.Set(jinja.String("text"), text)
		list[i] = part
	}
	return jinja.NewList(list)
}

// contentForm finds out which form a sayer's content has to have, by trying both; unknown: where
// the template takes neither. Many a template goes through the parts of users alone, and writes a
// list of another one's as Python prints it. Answers of tools are texts wherever they can be, as
// vLLM has them.
func (t *chatTemplate) contentForm(by sayer, takes capabilities, unknown contentForm) contentForm {
	talk := conversation{messages: inParts(by), answer: true}
	written := func(form contentForm) (string, bool) {
		takes.content[by] = form
		text, err := t.renderAs(talk, takes)
		s := text.String()
		return s, err == nil && strings.Contains(s, probeParts[0]) && strings.Contains(s, probeParts[1])
	}
	text, asText := written(textForm)
	if asText && by == byTool {
		return textForm
	}
	list, asList := written(partsForm)
	switch asList = asList && printedKeys(list) <= printedKeys(text); {
	case asText && asList:
		return partsForm
	case asText:
		return textForm
	case asList:
		return listForm
	}
	return unknown
}

// printedKeys counts what a part that is printed as it is has, as Python or JSON writes it.
func printedKeys(s string) int { return strings.Count(s, `'type'`) + strings.Count(s, `"type"`) }

// probeParts are what is said to try a template.
var probeParts = []string{"First probe", "Second probe"}

// inParts is a conversation in which somebody says probeParts.
func inParts(by sayer) []Message {
	hello := Message{Role: "user", Content: "Hello"}
	calls := []ToolCall{{ID: "call12345", Name: "probe", Arguments: `{"key": "value"}`}}
	switch by {
	case bySystem:
		return []Message{{Role: "system", Parts: probeParts}, hello}
	case byAssistant:
		return []Message{hello, {Role: "assistant", Parts: probeParts}, hello}
	case byTool:
		return []Message{hello, {Role: "assistant", ToolCalls: calls}, {Role: "tool", Parts: probeParts, ToolCallID: calls[0].ID, Name: calls[0].Name}}
	case byCaller:
		return []Message{hello, {Role: "assistant", Parts: probeParts, ToolCalls: calls}, {Role: "tool", Content: "done", ToolCallID: calls[0].ID, Name: calls[0].Name}}
	}
	return []Message{{Role: "user", Parts: probeParts}}
}
