package server

import (
	"net/http"

	"github.com/cbactor/cbactor/engine/texts"
)

// defaultMaxTokens is OpenAI's for completions.
const defaultMaxTokens = 16

// completionParams are what POST /v1/completions takes.
type completionParams struct {
	params
	formatParams
	unmetParams
	Prompt   prompts `json:"prompt"`
	Echo     bool    `json:"echo"`
	Logprobs *int    `json:"logprobs"`
	BestOf   *int    `json:"best_of"`
	Suffix   string  `json:"suffix"`
	Special  *bool   `json:"add_special_tokens"` // must be true, if it is there
}

// completion is its answer, and a chunk of its stream.
type completion struct {
	ID      string             `json:"id"`
	Object  string             `json:"object"`
	Created int64              `json:"created"`
	Model   string             `json:"model"`
	Choices []completionChoice `json:"choices"`
	Usage   any                `json:"usage,omitzero"` // nil: not told
}

type completionChoice struct {
	Index        int                 `json:"index"`
	Text         string              `json:"text"`
	Logprobs     *completionLogprobs `json:"logprobs"`
	FinishReason *string             `json:"finish_reason"`
	StopReason   any                 `json:"stop_reason"`
	PromptIDs    []int32             `json:"prompt_token_ids,omitzero"`
	IDs          []int32             `json:"token_ids,omitzero"`
	provenance
}

// completions answers POST /v1/completions.
func (s *Server) completions(w http.ResponseWriter, r *http.Request) error {
	var p completionParams
	if err := s.read(w, r, &p); err != nil {
		return err
	}
	c, err := s.newCall(r, "cmpl-", "prompt", &p.params)
	if err == nil {
		err = p.settle(s, &c.shared)
	}
	if err != nil {
		return err
	}
	f, err := p.format("")
	if err == nil {
		err = c.hold(f, &toolParams{})
	}
	if err != nil {
		return err
	}
	return s.generate(w, r, c, &p.params, p.Prompt, &completing{call: c, params: &p})
}

// settle puts what only completions have into their requests.
func (p *completionParams) settle(s *Server, r *texts.Request) (err error) {
	switch {
	case len(p.Prompt) == 0:
		return bad("prompt", "is empty or missing: give a text or token ids")
	case p.BestOf != nil && *p.BestOf != r.N:
		return bad("best_of", "is %d, must be n (%d) or missing: all sequences are returned", *p.BestOf, r.N)
	case p.Suffix != "":
		return bad("suffix", "is not supported: leave it out")
	case p.Special != nil && !*p.Special:
		return bad("add_special_tokens", "is false, must be true: send token ids, which /tokenize makes of a text without them")
	case p.Stream && p.Echo && p.Logprobs != nil:
		return bad("echo", "with logprobs is not streamed: leave stream out")
	}
	if err := p.unmetParams.check(); err != nil {
		return err
	}
	if p.MaxTokens == nil {
		r.MaxNewTokens = defaultMaxTokens
	}
	r.Score = r.MaxNewTokens == 0
	if err := s.few("prompt", len(p.Prompt)*r.N); err != nil {
		return err
	}
	if r.Sampling.Tell, err = tell("logprobs", p.Logprobs); err != nil {
		return err
	}
	r.Sampling.Tell.Prompt = p.Echo && p.Logprobs != nil
	return nil
}
