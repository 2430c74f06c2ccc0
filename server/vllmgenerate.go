package server

import (
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/cbactor/cbactor/engine/texts"
)

// generateParams are what POST /inference/v1/generate takes: vLLM's route for token ids.
// token_offsets, parse_context, reasoning_ended and reasoning_parser_kwargs come from its
// renderers and have no effect in the modes that are answered here.
type generateParams struct {
	RequestID     string         `json:"request_id"`
	IDs           []int32        `json:"token_ids"`
	Sampling      drawParams     `json:"sampling_params"`
	Model         string         `json:"model"`
	Stream        bool           `json:"stream"`
	StreamOptions *streamOptions `json:"stream_options"`
	ReturnIDs     bool           `json:"return_token_ids"`
	Mode          string         `json:"output_mode"`
	CacheSalt     string         `json:"cache_salt"`
	Priority      int            `json:"priority"` // a lower one goes first

	Rest map[string]jsontext.Value `json:",embed"`
}

// drawParams are its sampling_params, which have the names of other routes; what only those
// have, such as timeout, may stand here, too. Fields of vLLM's that say how it works inside
// have no effect: output_kind, which it sets itself, detokenize, flat_logprobs, skip_clone,
// stream_interval, extra_args.
type drawParams struct {
	params
	Logprobs    *int               `json:"logprobs"`
	SkipSpecial *bool              `json:"skip_special_tokens"`
	Structured  *structuredOutputs `json:"structured_outputs"`

	Rest map[string]jsontext.Value `json:",embed"`
}

// vllmRefused are other fields that would change an answer, with what to do instead.
var vllmRefused = map[string]string{
	"features":           "leave it out: models here take text alone",
	"content_parts":      "leave it out: models here take text alone",
	"kv_transfer_params": "leave it out: prompts are computed where they are continued",
	"ec_transfer_params": "leave it out: prompts are computed where they are continued",

	"prompt_logprobs":           "/v1/completions has echo with logprobs",
	"prompt_logprob_token_ids":  "/v1/completions has echo with logprobs",
	"logprob_token_ids":         "logprobs tells of the likeliest ones",
	"trace_decode_token_ids":    "/v1/completions has echo with logprobs for tokens that are given",
	"repetition_detection":      "repetition_penalty makes repetitions less likely",
	"thinking_token_budget":     "bound max_tokens",
	"skip_reading_prefix_cache": "a cache_salt of its own keeps a request from what others have cached",
	"watermarking":              "leave it out",
}

// vllmGenerate answers POST /inference/v1/generate.
func (s *Server) vllmGenerate(w http.ResponseWriter, r *http.Request) error {
	var p generateParams
	if err := s.read(w, r, &p); err != nil {
		return err
	}
	if err := p.settle(); err != nil {
		return err
	}
	c, err := s.newCall(r, "generate-", "token_ids", &p.Sampling.params)
	if err != nil {
		return err
	}
	if c.shared.Sampling.Tell, err = tell("logprobs", p.Sampling.Logprobs); err != nil {
		return err
	}
	f, err := (&formatParams{Structured: p.Sampling.Structured}).format("sampling_params.")
	if err == nil {
		err = c.hold(f, &toolParams{})
	}
	if err != nil {
		return err
	}
	if p.RequestID != "" {
		c.request = p.RequestID
	}
	return s.generate(w, r, c, &p.Sampling.params, []texts.Prompt{{IDs: p.IDs}}, &generating{call: c, params: &p})
}

// settle refuses what cannot be done, and puts what stands outside of sampling_params where
// other routes have it. What is left out there is as vLLM has it, not as the model's authors
// recommend.
func (p *generateParams) settle() error {
	q := &p.Sampling
	for _, rest := range []map[string]jsontext.Value{p.Rest, q.Rest} {
		if err := refused(rest, vllmRefused); err != nil {
			return err
		}
	}
	switch {
	case len(p.IDs) == 0:
		return bad("token_ids", "is empty or missing: give the ids of the prompt")
	case p.Mode != "" && p.Mode != "tokens" && p.Mode != "text":
		return bad("output_mode", "is %.40q, must be tokens or text: for messages there is /v1/chat/completions", p.Mode)
	case p.Mode == "text" && q.SkipSpecial != nil && !*q.SkipSpecial:
		return bad("skip_special_tokens", "is false, must be true for text: token_ids has them")
	case q.MaxTokens != nil && *q.MaxTokens == 0:
		return bad("max_tokens", "is 0, must be at least 1")
	case p.Priority < -100 || p.Priority > 100:
		return bad("priority", "is %d, must be from -100 to 100", p.Priority)
	}
	q.Model, q.Stream, q.StreamOptions, q.CacheSalt, q.ReturnIDs = p.Model, p.Stream, p.StreamOptions, p.CacheSalt, p.ReturnIDs
	q.Priority = new(-p.Priority)
	q.Temperature, q.TopP, q.MinP, q.RepetitionPenalty = or(q.Temperature, 1), or(q.TopP, 1), or(q.MinP, 0), or(q.RepetitionPenalty, 1)
	q.TopK = or(q.TopK, 0)
	if q.Seed != nil && *q.Seed == -1 { // vLLM's none
		q.Seed = nil
	}
	return nil
}

// or is a value that was given, else another.
func or[T any](given *T, other T) *T {
	if given == nil {
		return &other
	}
	return given
}
