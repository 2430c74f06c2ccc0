package text

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ardanlabs/jinja"
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
	text, err := c.RenderChat(messages, o)
	if err != nil {
		return nil, err
	}
	return c.EncodeRaw(text), nil
}

// RenderChat is the text that EncodeChatWith encodes: what the model's chat template
// makes of the messages. Errors are those of EncodeChatWith.
func (c *Codec) RenderChat(messages []Message, o ChatOptions) (string, error) {
	if c.chat == nil {
		return "", ErrNoTemplate
	}
	if !c.chat.calls && slices.ContainsFunc(messages, func(m Message) bool { return len(m.ToolCalls) > 0 }) {
		return "", fmt.Errorf("%w: messages have calls", ErrNoTools)
	}
	tools := jinja.None()
	if len(o.Tools) > 0 {
		if !c.chat.tools {
			return "", ErrNoTools
		}
		list := make([]jinja.Value, len(o.Tools))
		for i, t := range o.Tools {
			v, err := jsonValue(t)
			if err != nil {
				return "", fmt.Errorf("%w: number %d: %w", ErrTools, i+1, err)
			}
			list[i] = v
		}
		tools = jinja.NewList(list)
	}
	return c.chat.render(messages, tools, !o.NoGenerationPrompt)
}

// KnowsTools says whether the model's chat template does anything with tools.
func (c *Codec) KnowsTools() bool { return c.chat != nil && c.chat.tools }

// ChatTemplate is the source of the model's chat template; "": it has none.
func (c *Codec) ChatTemplate() string {
	if c.chat == nil {
		return ""
	}
	return c.chat.source
}

// mentions says whether a statement or an expression of a Jinja source has a word.
func mentions(source, word string) bool {
	for {
		start, end := nextTag(source)
		if end < 0 {
			return false
		}
		tag := source[start:end]
		source = source[end:]
		if tag[1] != '#' && hasWord(tag, word) {
			return true
		}
	}
}

func hasWord(s, word string) bool {
	for {
		i := strings.Index(s, word)
		if i < 0 {
			return false
		}
		before, after := s[:i], s[i+len(word):]
		if !endsWithWord(before) && !startsWithWord(after) {
			return true
		}
		s = after
	}
}

// maxJSONDepth is how deep the JSON nests that a template is given.
const maxJSONDepth = 100

// jsonValue is a JSON text as a template sees it: dicts keep their order.
func jsonValue(source json.RawMessage) (jinja.Value, error) {
	d := json.NewDecoder(bytes.NewReader(source))
	d.UseNumber()
	v, err := readValue(d, 0)
	if err != nil {
		return v, fmt.Errorf("no JSON: %s", oneLine(err.Error()))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return v, errors.New("no JSON: something follows it")
	}
	return v, nil
}

func readValue(d *json.Decoder, depth int) (jinja.Value, error) {
	if depth > maxJSONDepth {
		return jinja.None(), fmt.Errorf("it nests more than %d deep", maxJSONDepth)
	}
	token, err := d.Token()
	if err != nil {
		return jinja.None(), err
	}
	switch t := token.(type) {
	case json.Delim:
		return readItems(d, t, depth)
	case string:
		return jinja.NewString(t), nil
	case bool:
		return jinja.NewBool(t), nil
	case json.Number:
		if n, err := t.Int64(); err == nil {
			return jinja.NewInt(n), nil
		}
		f, err := t.Float64()
		return jinja.NewFloat(f), err
	}
	return jinja.None(), nil
}

// readItems reads a list or a dict behind what opens it.
func readItems(d *json.Decoder, opening json.Delim, depth int) (jinja.Value, error) {
	var items []jinja.Value
	all := jinja.NewDict()
	for d.More() {
		key := ""
		if opening == '{' {
			token, err := d.Token()
			if err != nil {
				return jinja.None(), err
			}
			key, _ = token.(string) // the decoder gives nothing else here
		}
		v, err := readValue(d, depth+1)
		if err != nil {
			return jinja.None(), err
		}
		if opening == '{' {
			all.AsDict().Set(key, v)
		} else {
			items = append(items, v)
		}
	}
	if opening == '[' {
		all = jinja.NewList(items)
	}
	_, err := d.Token() // what closes it
	return all, err
}
