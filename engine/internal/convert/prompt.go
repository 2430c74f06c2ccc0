package convert

import (
	"encoding/json"
	"strings"

	"github.com/cbactor/cbactor/engine/texts"
	"github.com/cbactor/cbactor/messages"
	"github.com/cbactor/cbactor/text"
)

// Encode asks for the ids of a prompt that is not ids.
func Encode(p texts.Prompt) (*messages.Encode, error) {
	if err := (&texts.Request{Prompt: p}).Check(); err != nil {
		return nil, err
	}
	m := new(messages.Encode)
	switch {
	case p.Text != nil:
		m.Input = &messages.Encode_Text{Text: *p.Text}
	case p.Raw != nil:
		m.Input = &messages.Encode_Raw{Raw: *p.Raw}
	case p.Messages != nil:
		m.Input = &messages.Encode_Messages{Messages: chat(p)}
	default:
		return nil, refused("there is no text to encode")
	}
	return m, nil
}

// EncodeOf reads it.
func EncodeOf(m *messages.Encode) (texts.Prompt, error) {
	switch in := m.GetInput().(type) {
	case *messages.Encode_Text:
		return texts.Prompt{Text: &in.Text}, nil
	case *messages.Encode_Raw:
		return texts.Prompt{Raw: &in.Raw}, nil
	case *messages.Encode_Messages:
		return chatOf(in.Messages), nil
	}
	return texts.Prompt{}, refused("there is no text to encode")
}

func chat(p texts.Prompt) *messages.Chat {
	m := &messages.Chat{Messages: make([]*messages.ChatMessage, len(p.Messages)), NoGenerationPrompt: p.NoGenerationPrompt, ContinueFinal: p.Continue}
	for i, one := range p.Messages {
		m.Messages[i] = &messages.ChatMessage{Role: one.Role, Content: one.Content, ToolCallId: one.ToolCallID, Name: one.Name, Reasoning: one.Reasoning}
		if one.Parts != nil {
			m.Messages[i].Content = strings.Join(one.Parts, "\n")
			m.Messages[i].Parts = &messages.Parts{Texts: one.Parts}
		}
		for _, c := range one.ToolCalls {
			m.Messages[i].ToolCalls = append(m.Messages[i].ToolCalls, &messages.ToolCall{Id: c.ID, Name: c.Name, Arguments: c.Arguments})
		}
	}
	for _, t := range p.Tools {
		m.Tools = append(m.Tools, string(t))
	}
	if len(p.Variables) > 0 {
		m.Variables = make(map[string]string, len(p.Variables))
	}
	for name, v := range p.Variables {
		m.Variables[name] = string(v)
	}
	return m
}

// chatOf reads it. Its messages are never nil: an empty one is a conversation of no words.
func chatOf(m *messages.Chat) texts.Prompt {
	p := texts.Prompt{Messages: make([]text.Message, len(m.GetMessages()))}
	p.NoGenerationPrompt, p.Continue = m.GetNoGenerationPrompt(), m.GetContinueFinal()
	for i, one := range m.GetMessages() {
		p.Messages[i] = text.Message{Role: one.GetRole(), Content: one.GetContent(), ToolCallID: one.GetToolCallId(), Name: one.GetName(), Reasoning: one.GetReasoning()}
		if one.Parts != nil {
			p.Messages[i].Content = ""
			p.Messages[i].Parts = append([]string{}, one.Parts.GetTexts()...)
		}
		for _, c := range one.GetToolCalls() {
			p.Messages[i].ToolCalls = append(p.Messages[i].ToolCalls, text.ToolCall{ID: c.GetId(), Name: c.GetName(), Arguments: c.GetArguments()})
		}
	}
	for _, t := range m.GetTools() {
		p.Tools = append(p.Tools, json.RawMessage(t))
	}
	if len(m.GetVariables()) > 0 {
		p.Variables = make(map[string]json.RawMessage, len(m.GetVariables()))
	}
	for name, v := range m.GetVariables() {
		p.Variables[name] = json.RawMessage(v)
	}
	return p
}
