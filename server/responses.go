package server

import (
	"net/http"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/cbactor/cbactor/engine/texts"
	"github.com/cbactor/cbactor/text"
)

// responseParams are what POST /v1/responses takes. Nothing is stored, so that there is no
// earlier answer to go on from.
type responseParams struct {
	params
	toolParams
	layoutParams
	chatUnmet
	Input        input             `json:"input"`
	Instructions *string           `json:"instructions"`
	MaxOutput    *int              `json:"max_output_tokens"`
	Include      []string          `json:"include"`
	TopLogprobs  *int              `json:"top_logprobs"`
	Metadata     map[string]string `json:"metadata"`

	Previous   *string `json:"previous_response_id"`
	Background bool    `json:"background"`
	Text       struct {
		Format *textFormat `json:"format"`
	} `json:"text"`
}

// textFormat is what responses have for response_format.
type textFormat struct {
	Type string `json:"type"`
	jsonSchema
}

// input is a text, which a user says, or the items of a conversation.
type input []message

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (in *input) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	raw, err := dec.ReadValue()
	if err != nil || raw.Kind() == 'n' {
		return err
	}
	if raw.Kind() == '"' {
		*in = input{{Role: "user"}}
		return unmarshal(raw, &(*in)[0].Content.text)
	}
	var items []inputItem
	if unmarshal(raw, &items) != nil {
		return must("a string or a list of messages with text, calls and their answers")
	}
	for _, i := range items {
		m, err := i.turn()
		if err != nil {
			return err
		}
		*in = append(*in, m)
	}
	return nil
}

// inputItem is a message, a call of a function or what has come of one.
type inputItem struct {
	Type string `json:"type"`
	message
	CallID    string  `json:"call_id"`
	Arguments string  `json:"arguments"`
	Output    content `json:"output"`
}

// turn is the item as chats have it.
func (i *inputItem) turn() (message, error) {
	switch i.Type {
	case "", "message":
		return i.message, nil
	case "function_call":
		return message{Role: "assistant", ToolCalls: []toolCall{{ID: i.CallID, Function: called{i.Name, i.Arguments}}}}, nil
	case "function_call_output":
		return message{Role: "tool", ToolCallID: i.CallID, Content: i.Output}, nil
	}
	return message{}, must("messages, calls and their answers: items of type %.40q are not taken", i.Type)
}

// logprobsOfOutput is what include has where log-probabilities are asked for.
const logprobsOfOutput = "message.output_text.logprobs"

// responses answers POST /v1/responses.
func (s *Server) responses(w http.ResponseWriter, r *http.Request) error {
	var p responseParams
	if err := s.read(w, r, &p); err != nil {
		return err
	}
	c, err := s.newCall(r, "resp_", "input", &p.params)
	if err == nil {
		err = p.settle(&c.shared)
	}
	if err != nil {
		return err
	}
	f := format{param: "text.format"}
	if t := p.Text.Format; t != nil {
		if f.spec, err = t.spec(f.param, t.Type, f.param+".schema"); err != nil {
			return err
		}
	}
	if err := c.hold(f, &p.toolParams); err != nil {
		return err
	}
	prompt, err := conversation("input", p.Input, &p.layoutParams)
	if err != nil {
		return err
	}
	prompt.Messages, prompt.Tools = together(prompt.Messages), c.offer.tools
	if p.Instructions != nil {
		prompt.Messages = slices.Insert(prompt.Messages, 0, text.Message{Role: "system", Content: *p.Instructions})
	}
	return s.generate(w, r, c, &p.params, []texts.Prompt{prompt}, &responding{call: c, params: &p})
}

// together has calls stand in the turn before them, where that is the assistant's: templates
// know turns, not items.
func together(turns []text.Message) (list []text.Message) {
	for _, t := range turns {
		if n := len(list); n > 0 && len(t.ToolCalls) > 0 && list[n-1].Role == t.Role {
			list[n-1].ToolCalls = append(list[n-1].ToolCalls, t.ToolCalls...)
			continue
		}
		list = append(list, t)
	}
	return list
}

// settle puts what only responses have into their request.
func (p *responseParams) settle(r *texts.Request) (err error) {
	switch {
	case r.N != 1:
		return bad("n", "is %d, a response has one text", r.N)
	case p.MaxOutput != nil && *p.MaxOutput < 1:
		return bad("max_output_tokens", "is %d, must be 1 or more", *p.MaxOutput)
	case p.Previous != nil && *p.Previous != "":
		return bad("previous_response_id", "is not supported: send the whole conversation as input")
	case p.Background:
		return bad("background", "is not supported: leave it out")
	}
	if err := p.chatUnmet.check(); err != nil {
		return err
	}
	r.MaxNewTokens = 0
	if p.MaxOutput != nil {
		r.MaxNewTokens = *p.MaxOutput
	}
	if !p.logprobs() {
		return nil
	}
	top := 0
	if p.TopLogprobs != nil {
		top = *p.TopLogprobs
	}
	r.Sampling.Tell, err = tell("top_logprobs", &top)
	return err
}

func (p *responseParams) logprobs() bool {
	return p.TopLogprobs != nil || slices.Contains(p.Include, logprobsOfOutput)
}
