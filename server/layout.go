package server

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/cbactor/cbactor/text"
)

// layoutParams say how the chat template lays a conversation out, in vLLM's words.
type layoutParams struct {
	AddPrompt *bool                     `json:"add_generation_prompt"`  // open the answer behind the messages; where it is missing, true unless the last one is continued
	Continue  bool                      `json:"continue_final_message"` // end where the content of the last message does, for the model to go on with it
	Variables map[string]jsontext.Value `json:"chat_template_kwargs"`   // variables for the template, by their names, such as enable_thinking
	Effort    string                    `json:"reasoning_effort"`       // is the variable reasoning_effort, and makes enable_thinking true, or false for none, where chat_template_kwargs has no such
}

// efforts are how much a model may think, in OpenAI's words.
var efforts = []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"}

// options are those of the chat template. What may be among the variables is the tokenizer's
// to say.
func (p *layoutParams) options() (o text.ChatOptions, err error) {
	if p.Continue && p.AddPrompt != nil && *p.AddPrompt {
		return o, errBothEnds
	}
	o.Continue, o.NoGenerationPrompt = p.Continue, p.AddPrompt != nil && !*p.AddPrompt
	if len(p.Variables) > 0 || p.Effort != "" {
		o.Variables = make(map[string]json.RawMessage, len(p.Variables)+2)
	}
	if p.Effort != "" {
		if !slices.Contains(efforts, p.Effort) {
			return o, bad("reasoning_effort", "is %.40q, must be one of %s", p.Effort, strings.Join(efforts, ", "))
		}
		o.Variables["reasoning_effort"] = json.RawMessage(strconv.Quote(p.Effort))
		o.Variables["enable_thinking"] = json.RawMessage(strconv.FormatBool(p.Effort != "none"))
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
	case p.Effort != "":
		return "reasoning_effort"
	}
	return ""
}

var errBothEnds = &refusal{http.StatusBadRequest, "continue_final_message and add_generation_prompt are both true: the prompt ends within the last message or behind what opens another one, leave one out", "continue_final_message", "invalid_value"}
