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

	// Continue ends the prompt where the content of the last message does, so that the
	// model goes on with it. No answer is opened then.
	Continue bool

	// Variables are more that the template may ask for by its name, each as JSON, such as
	// enable_thinking. What they have of text is the conversation's. Those that the
	// template has from elsewhere cannot be among them: see [CheckVariable].
	Variables map[string]json.RawMessage
}

// EncodeChatWith is EncodeChat with options. Errors, besides those of EncodeChat:
// ErrNoTools, ErrTools, ErrVariables, ErrContinue.
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
	variables, err := o.variables()
	if err != nil {
		return jinja.Text{}, err
	}
	if o.Continue && len(messages) == 0 {
		return jinja.Text{}, fmt.Errorf("%w: there is none", ErrContinue)
	}
	conversation := conversation{messages: messages, answer: !o.NoGenerationPrompt && !o.Continue, continued: o.Continue, variables: variables}
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
