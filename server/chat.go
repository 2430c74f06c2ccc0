package server

import (
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/cbactor/cbactor/engine/texts"
	"github.com/cbactor/cbactor/text"
)

// chatParams are what POST /v1/chat/completions takes.
type chatParams struct {
	params
	Messages       []message      `json:"messages"`
	MaxCompletion  *int           `json:"max_completion_tokens"`
	Logprobs       bool           `json:"logprobs"`
	TopLogprobs    *int           `json:"top_logprobs"`
	Tools          jsontext.Value `json:"tools"`
	ResponseFormat *struct {
		Type string `json:"type"`
	} `json:"response_format"`
}

// message is a turn of a conversation.
type message struct {
	Role    string  `json:"role"`
	Content content `json:"content"`
}

// conversation is messages as a chat template takes them.
func conversation(param string, list []message) (texts.Prompt, error) {
	if len(list) == 0 {
		return texts.Prompt{}, bad(param, "is empty or missing: give at least one message")
	}
	turns := make([]text.Message, len(list))
	for i, m := range list {
		switch m.Role {
		case "":
			return texts.Prompt{}, bad(param, "has no role in message %d", i+1)
		case "developer": // OpenAI's newer name, which no template knows
			m.Role = "system"
		}
		turns[i] = text.Message{Role: m.Role, Content: string(m.Content)}
	}
	return texts.Prompt{Messages: turns}, nil
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
	prompt, err := conversation("messages", p.Messages)
	if err != nil {
		return err
	}
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
	case p.ResponseFormat != nil && p.ResponseFormat.Type != "text":
		return bad("response_format", "has type %.40q, only text is supported", p.ResponseFormat.Type)
	case len(p.Tools) > 0 && p.Tools.Kind() != 'n':
		return bad("tools", "is not supported: leave it out")
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
