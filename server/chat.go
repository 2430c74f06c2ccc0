package server

import (
	"fmt"
	"net/http"

	"github.com/cbactor/cbactor/engine/texts"
	"github.com/cbactor/cbactor/text"
)

// chatParams are what POST /v1/chat/completions takes.
type chatParams struct {
	params
	formatParams
	toolParams
	layoutParams
	chatUnmet
	Messages      []message `json:"messages"`
	MaxCompletion *int      `json:"max_completion_tokens"`
	Logprobs      bool      `json:"logprobs"`
	TopLogprobs   *int      `json:"top_logprobs"`
}

// message is a turn of a conversation.
type message struct {
	Role       string     `json:"role"`
	Name       string     `json:"name"`
	Content    content    `json:"content"`
	Reasoning  string     `json:"reasoning_content"` // of the assistant, before its answer
	ToolCalls  []toolCall `json:"tool_calls"`        // of the assistant
	ToolCallID string     `json:"tool_call_id"`      // of a tool: what it answers
}

// conversation is messages as a chat template takes them, and how it lays them out.
func conversation(param string, list []message, layout *layoutParams) (texts.Prompt, error) {
	options, err := layout.options()
	if err != nil {
		return texts.Prompt{}, err
	}
	if len(list) == 0 {
		return texts.Prompt{}, bad(param, "is empty or missing: give at least one message")
	}
	turns := make([]text.Message, len(list))
	for i, m := range list {
		turn, err := m.turn(fmt.Sprintf("%s.%d", param, i))
		if err != nil {
			return texts.Prompt{}, err
		}
		turns[i] = turn
	}
	return texts.Prompt{Messages: turns, ChatOptions: options}, nil
}

// turn is a message, which is at a parameter, as a chat template takes it.
func (m *message) turn(param string) (t text.Message, err error) {
	t = text.Message{Role: m.Role, Content: m.Content.text, Parts: m.Content.parts, Reasoning: m.Reasoning, Name: m.Name, ToolCallID: m.ToolCallID}
	switch {
	case m.Role == "":
		return t, bad(param, "has no role")
	case m.Role == "developer": // OpenAI's newer name, which no template knows
		t.Role = "system"
	case m.Role == "tool" && m.ToolCallID == "":
		return t, bad(param, "is of a tool and has no tool_call_id: say which call it answers")
	case m.Role != "assistant" && len(m.ToolCalls) > 0:
		return t, bad(param, "has tool_calls, which are the assistant's")
	}
	for i, c := range m.ToolCalls {
		if c.Function.Name == "" {
			return t, bad(fmt.Sprintf("%s.tool_calls.%d", param, i), "has no name of a function")
		}
		t.ToolCalls = append(t.ToolCalls, text.ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: c.Function.Arguments})
	}
	return t, nil
}

// chat answers POST /v1/chat/completions.
func (s *Server) chat(w http.ResponseWriter, r *http.Request) error {
	var p chatParams
	if err := s.read(w, r, &p); err != nil {
		return err
	}
	c, err := s.newCall(r, "chatcmpl-", "messages", &p.params)
	if err == nil {
		err = p.settle(&c.shared)
	}
	if err != nil {
		return err
	}
	f, err := p.format("")
	if err == nil {
		err = c.hold(f, &p.toolParams)
	}
	if err != nil {
		return err
	}
	prompt, err := conversation("messages", p.Messages, &p.layoutParams)
	if err != nil {
		return err
	}
	prompt.Tools = c.offer.tools
	return s.generate(w, r, c, &p.params, []texts.Prompt{prompt}, &chatting{call: c, params: &p})
}

// settle puts what only chats have into their request.
func (p *chatParams) settle(r *texts.Request) (err error) {
	switch {
	case p.MaxCompletion != nil && p.MaxTokens != nil && *p.MaxCompletion != *p.MaxTokens:
		return bad("max_completion_tokens", "is %d and max_tokens %d: give one", *p.MaxCompletion, *p.MaxTokens)
	case p.MaxCompletion != nil && *p.MaxCompletion < 1:
		return bad("max_completion_tokens", "is %d, must be 1 or more", *p.MaxCompletion)
	case p.MaxTokens != nil && *p.MaxTokens == 0:
		return bad("max_tokens", "is 0, must be 1 or more")
	case p.TopLogprobs != nil && *p.TopLogprobs != 0 && !p.Logprobs:
		return bad("top_logprobs", "is for logprobs: true")
	}
	if err := p.chatUnmet.check(); err != nil {
		return err
	}
	if p.MaxCompletion != nil {
		r.MaxNewTokens = *p.MaxCompletion
	}
	if !p.Logprobs {
		return nil
	}
	top := 0
	if p.TopLogprobs != nil {
		top = *p.TopLogprobs
	}
	r.Sampling.Tell, err = tell("top_logprobs", &top)
	return err
}
