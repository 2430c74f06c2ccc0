package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/cbactor/cbactor/text"
)

// maxConversation is the size of the largest file of messages, in bytes.
const maxConversation = 16 << 20

// conversation is what a chat template is given.
type conversation struct {
	messages []text.Message
	options  text.ChatOptions
	opened   bool // add_generation_prompt is given, and true
}

// readSmallFile reads a file of at most maxConversation bytes.
func readSmallFile(r io.Reader) ([]byte, error) {
	js, err := io.ReadAll(io.LimitReader(r, maxConversation+1))
	if err == nil && len(js) > maxConversation {
		err = badUsage("it has more than %d MiB", maxConversation>>20)
	}
	return js, err
}

// decodeConversation reads a list of messages, or an object with messages and options.
func decodeConversation(r io.Reader) (conversation, error) {
	js, err := readSmallFile(r)
	if err != nil {
		return conversation{}, err
	}
	var body struct {
		Messages  []turn                     `json:"messages"`
		Tools     []json.RawMessage          `json:"tools"`
		Variables map[string]json.RawMessage `json:"chat_template_kwargs"`
		Continue  bool                       `json:"continue_final_message"`
		AddPrompt *bool                      `json:"add_generation_prompt"`
	}
	var into any = &body
	if bytes.HasPrefix(bytes.TrimSpace(js), []byte("[")) {
		into = &body.Messages
	}
	if err := json.Unmarshal(js, into); err != nil {
		return conversation{}, badUsage("it has no messages as JSON: %w", err)
	}
	unopened, opened := body.AddPrompt != nil && !*body.AddPrompt, body.AddPrompt != nil && *body.AddPrompt
	talk := conversation{opened: opened, options: text.ChatOptions{Tools: body.Tools, Variables: body.Variables, Continue: body.Continue, NoGenerationPrompt: unopened}}
	if body.Continue && opened {
		return conversation{}, badUsage("continue_final_message and add_generation_prompt are both true: leave one out")
	}
	for i := range body.Messages {
		m, err := body.Messages[i].message()
		if err != nil {
			return conversation{}, badUsage("message %d: %w", i+1, err)
		}
		talk.messages = append(talk.messages, m)
	}
	return talk, nil
}

// turn is a message as OpenAI's API has it.
type turn struct {
	Role       string   `json:"role"`
	Name       string   `json:"name"`
	Content    turnText `json:"content"`
	Reasoning  string   `json:"reasoning_content"`
	ToolCallID string   `json:"tool_call_id"`
	ToolCalls  []struct {
		ID       string `json:"id"`
		Function struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"` // JSON, or a text with JSON
		} `json:"function"`
	} `json:"tool_calls"`
}

// turnText is a text, null, or a list of parts of type text.
type turnText struct {
	text  string
	parts []string // nil: it is no list
}

// UnmarshalJSON implements json.Unmarshaler.
func (t *turnText) UnmarshalJSON(js []byte) error {
	if js[0] != '[' {
		return json.Unmarshal(js, &t.text)
	}
	var parts []struct{ Type, Text string }
	if err := json.Unmarshal(js, &parts); err != nil {
		return err
	}
	t.parts = make([]string, 0, len(parts))
	for _, p := range parts {
		if p.Type != "text" {
			return fmt.Errorf("parts of type %.40q are not known", p.Type)
		}
		t.parts = append(t.parts, p.Text)
	}
	return nil
}

// message is the turn as a chat template takes it.
func (t *turn) message() (text.Message, error) {
	m := text.Message{Role: t.Role, Name: t.Name, Content: t.Content.text, Parts: t.Content.parts, Reasoning: t.Reasoning, ToolCallID: t.ToolCallID}
	if m.Role == "" {
		return m, errors.New("it has no role")
	}
	for _, call := range t.ToolCalls {
		arguments := string(call.Function.Arguments)
		if len(arguments) > 0 && arguments[0] == '"' {
			if err := json.Unmarshal(call.Function.Arguments, &arguments); err != nil {
				return m, err
			}
		}
		m.ToolCalls = append(m.ToolCalls, text.ToolCall{ID: call.ID, Name: call.Function.Name, Arguments: arguments})
	}
	return m, nil
}

// readTools reads a file with a list of tools.
func readTools(path string) (_ []json.RawMessage, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	js, err := readSmallFile(file)
	if err != nil {
		return nil, err
	}
	var tools []json.RawMessage
	if err := json.Unmarshal(js, &tools); err != nil || len(tools) == 0 {
		return nil, badUsage("it is no list of tools as JSON")
	}
	return tools, nil
}
