package server

import (
	"encoding/json"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/cbactor/cbactor/text"
)

// layoutParams say how the chat template lays a conversation out, in vLLM's words.
type layoutParams struct {
	AddPrompt *bool                     `json:"add_generation_prompt"`  // open the answer behind the messages; where it is missing, true unless the last one is continued
	Continue  bool                      `json:"continue_final_message"` // end where the content of the last message does, for the model to go on with it
	Variables map[string]jsontext.Value `json:"chat_template_kwargs"`   // variables for the template, by their names, such as enable_thinking
}

// options are those of the chat template. What may be among the variables is the tokenizer's
// to say.
func (p *layoutParams) options() (o text.ChatOptions, err error) {
	if p.Continue && p.AddPrompt != nil && *p.AddPrompt {
		return o, errBothEnds
	}
	o.Continue, o.NoGenerationPrompt = p.Continue, p.AddPrompt != nil && !*p.AddPrompt
	if len(p.Variables) > 0 {
		o.Variables = make(map[string]json.RawMessage, len(p.Variables))
	}
	for name, value := range p.Variables {
		o.Variables[name] = json.RawMessage(value)
	}
	return o, nil
}

// given is the name of one that asks for something; "": none does.
func (p *layoutParams) given() string {
	switch {
	case p.AddPrompt != nil && !*p.AddPrompt:
		return "add_generation_prompt"
	case p.Continue:
		return "continue_final_message"
	case len(p.Variables) > 0:
		return "chat_template_kwargs"
	}
	return ""
}

var errBothEnds = &refusal{http.StatusBadRequest, "continue_final_message and add_generation_prompt are both true: the prompt ends within the last message or behind what opens another one, leave one out", "continue_final_message", "invalid_value"}
