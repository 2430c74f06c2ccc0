package text

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/cbactor/cbactor/text/jinja"
)

// ChatOptions is what a chat template is given beside the messages.
type ChatOptions struct {
	// Tools are the functions that the model may ask for, as OpenAI writes them:
	// {"type": "function", "function": {"name", "description", "parameters"}}.
	Tools []json.RawMessage

	// NoGenerationPrompt leaves out what opens the answer behind the messages
	// (add_generation_prompt is false then).
	NoGenerationPrompt bool
}

// EncodeChatWith is EncodeChat with options. Errors, besides those of EncodeChat:
// ErrNoTools, ErrTools.
func (c *Codec) EncodeChatWith(messages []Message, o ChatOptions) ([]int32, error) {
	text, err := c.renderChat(messages, o)
	if err != nil {
		return nil, err
	}
	return c.encodeRendered(text)
}

// RenderChat is the text that EncodeChatWith encodes: what the model's chat template
// makes of the messages. Errors are those of EncodeChatWith.
func (c *Codec) RenderChat(messages []Message, o ChatOptions) (string, error) {
	text, err := c.renderChat(messages, o)
	return text.String(), err
}

func (c *Codec) renderChat(messages []Message, o ChatOptions) (jinja.Text, error) {
	if c.chat == nil {
		return jinja.Text{}, ErrNoTemplate
	}
	if c.chat.err != nil {
		return jinja.Text{}, c.chat.err
	}
	if !c.chat.takes.calls && slices.ContainsFunc(messages, func(m Message) bool { return len(m.ToolCalls) > 0 }) {
		return jinja.Text{}, fmt.Errorf("%w: messages have calls", ErrNoTools)
	}
	conversation := conversation{messages: messages, answer: !o.NoGenerationPrompt}
	if len(o.Tools) > 0 {
		if !c.chat.takes.tools {
			return jinja.Text{}, ErrNoTools
		}
		list := make([]jinja.Value, len(o.Tools))
		for i, t := range o.Tools {
			v, err := jsonValue(t)
			if err != nil {
				return jinja.Text{}, fmt.Errorf("%w: number %d: %w", ErrTools, i+1, err)
			}
			list[i] = v
		}
		conversation.tools = jinja.NewList(list)
	}
	return c.chat.render(conversation)
}

// KnowsTools says whether the model's chat template does anything with tools.
func (c *Codec) KnowsTools() bool { return c.chat != nil && c.chat.takes.tools }

// ChatTemplate is the source of the model's chat template; "": it has none.
func (c *Codec) ChatTemplate() string {
	if c.chat == nil {
		return ""
	}
	return c.chat.source
}
