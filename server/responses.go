package server

import (
	"net/http"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/cbactor/cbactor/engine/texts"
)

// responseParams are what POST /v1/responses takes. Nothing is stored, so that there is no
// earlier answer to go on from.
type responseParams struct {
	params
	Input        input             `json:"input"`
	Instructions *string           `json:"instructions"`
	MaxOutput    *int              `json:"max_output_tokens"`
	Include      []string          `json:"include"`
	TopLogprobs  *int              `json:"top_logprobs"`
	Metadata     map[string]string `json:"metadata"`

	Previous   *string        `json:"previous_response_id"`
	Background bool           `json:"background"`
	Tools      jsontext.Value `json:"tools"`
	Text       struct {
		Format struct {
			Type string `json:"type"`
		} `json:"format"`
	} `json:"text"`
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
		return unmarshal(raw, (*string)(&(*in)[0].Content))
	}
	var items []struct {
		Type string `json:"type"`
		message
	}
	if unmarshal(raw, &items) != nil {
		return must("a string or a list of messages with text")
	}
	for _, i := range items {
		if i.Type != "" && i.Type != "message" {
			return must("messages: items of type %.40q are not taken", i.Type)
		}
		*in = append(*in, i.message)
	}
	return nil
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
	turns := p.Input
	if len(turns) > 0 && p.Instructions != nil {
		turns = slices.Insert(turns, 0, message{Role: "system", Content: content(*p.Instructions)})
	}
	prompt, err := conversation("input", turns)
	if err != nil {
		return err
	}
	return s.generate(w, r, c, &p.params, []texts.Prompt{prompt}, &responding{call: c, params: &p})
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
	case len(p.Tools) > 0 && p.Tools.Kind() != 'n':
		return bad("tools", "is not supported: leave it out")
	case p.Text.Format.Type != "" && p.Text.Format.Type != "text":
		return bad("text", "has format %.40q, only text is supported", p.Text.Format.Type)
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
