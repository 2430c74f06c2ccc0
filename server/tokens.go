package server

import (
	"fmt"
	"net/http"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/texts"
)

// tokenizeParams are what POST /tokenize takes: a prompt or messages.
type tokenizeParams struct {
	Model    string    `json:"model"`
	Prompt   *string   `json:"prompt"`
	Messages []message `json:"messages"`
	Tools    []tool    `json:"tools"`              // beside messages
	Special  *bool     `json:"add_special_tokens"` // for a prompt: what the tokenizer puts around a text; nil: true
	Strings  bool      `json:"return_token_strs"`

	layoutParams // as of chats, whose prompts are shown
	chatUnmet
}

type tokenized struct {
	Count      int      `json:"count"`
	MaxContext int      `json:"max_model_len"`
	Tokens     []int32  `json:"tokens"`
	Strings    []string `json:"token_strs,omitzero"`
}

type detokenizeParams struct {
	Model  string  `json:"model"`
	Tokens []int32 `json:"tokens"`
}

type detokenized struct {
	Prompt string `json:"prompt"`
}

func (p *tokenizeParams) prompt() (texts.Prompt, error) {
	if err := p.chatUnmet.check(); err != nil {
		return texts.Prompt{}, err
	}
	switch {
	case p.Prompt != nil && p.Messages != nil:
		return texts.Prompt{}, bad("messages", "is given beside prompt: leave one out")
	case p.Prompt == nil && p.Messages == nil:
		return texts.Prompt{}, bad("prompt", "is missing: give prompt or messages")
	case p.Prompt == nil && p.Special != nil && *p.Special:
		return texts.Prompt{}, bad("add_special_tokens", "is for a prompt: %s", chatRefused["add_special_tokens"])
	case p.Prompt == nil:
		prompt, err := conversation("messages", p.Messages, &p.layoutParams)
		for _, t := range p.Tools {
			prompt.Tools = append(prompt.Tools, t.template)
		}
		return prompt, err
	case p.Tools != nil:
		return texts.Prompt{}, bad("tools", "is for messages")
	case p.layoutParams.given() != "":
		return texts.Prompt{}, bad(p.layoutParams.given(), "is for messages")
	case p.Special != nil && !*p.Special:
		return texts.Prompt{Raw: p.Prompt}, nil
	}
	return texts.Prompt{Text: p.Prompt}, nil
}

// tokenize answers POST /tokenize.
func (s *Server) tokenize(w http.ResponseWriter, r *http.Request) error {
	var p tokenizeParams
	if err := s.read(w, r, &p); err != nil {
		return err
	}
	m, _, err := s.find(p.Model)
	if err != nil {
		return err
	}
	prompt, err := p.prompt()
	if err != nil {
		return err
	}
	ids, err := m.Texts.Encode(r.Context(), prompt)
	if err != nil {
		param := "prompt"
		if prompt.Messages != nil {
			param = "messages"
		}
		return refusalOf(err, param)
	}
	answer := tokenized{Count: len(ids), MaxContext: m.Engine.Info().MaxContext, Tokens: ids}
	if p.Strings {
		answer.Strings = make([]string, len(ids))
		for i, id := range ids {
			answer.Strings[i], _ = speller{spell: m.Spell}.token(id)
		}
	}
	return s.answer(w, http.StatusOK, answer)
}

// detokenize answers POST /detokenize.
func (s *Server) detokenize(w http.ResponseWriter, r *http.Request) error {
	var p detokenizeParams
	if err := s.read(w, r, &p); err != nil {
		return err
	}
	m, _, err := s.find(p.Model)
	if err != nil {
		return err
	}
	if p.Tokens == nil {
		return bad("tokens", "is missing: give a list of token ids")
	}
	for i, id := range p.Tokens { // a tokenizer leaves out what it does not know
		if vocab := m.Engine.Info().Vocab; id < 0 || int(id) >= vocab {
			return refusalOf(fmt.Errorf("%w: id %d at position %d, the vocabulary has %d", engine.ErrVocab, id, i, vocab), "tokens")
		}
	}
	words, err := m.Texts.Decode(r.Context(), p.Tokens)
	if err != nil {
		return refusalOf(err, "tokens")
	}
	return s.answer(w, http.StatusOK, detokenized{words})
}
