package convert

import (
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
		m.Input = &messages.Encode_Messages{Messages: chat(p.Messages)}
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
		return texts.Prompt{Messages: chatOf(in.Messages)}, nil
	}
	return texts.Prompt{}, refused("there is no text to encode")
}

func chat(list []text.Message) *messages.Chat {
	m := &messages.Chat{Messages: make([]*messages.ChatMessage, len(list))}
	for i, one := range list {
		m.Messages[i] = &messages.ChatMessage{Role: one.Role, Content: one.Content}
	}
	return m
}

// chatOf is never nil: an empty one is a conversation of no words.
func chatOf(m *messages.Chat) []text.Message {
	list := make([]text.Message, len(m.GetMessages()))
	for i, one := range m.GetMessages() {
		list[i] = text.Message{Role: one.GetRole(), Content: one.GetContent()}
	}
	return list
}
