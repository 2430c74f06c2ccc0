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

	Features   jsontext.Value `json:"features"`
	Content    jsontext.Value `json:"content_parts"`
	KVTransfer jsontext.Value `json:"kv_transfer_params"`
	ECTransfer jsontext.Value `json:"ec_transfer_params"`
}

// drawParams are its sampling_params, which have the names of other routes; what only those
// have, such as timeout, may stand here, too. Fields of vLLM's that say how it works inside
// have no effect: output_kind, which it sets itself, detokenize, flat_logprobs, skip_clone,
// stream_interval, extra_args.
type drawParams struct {
	params
	Logprobs *int `json:"logprobs"`

	PromptLogprobs jsontext.Value `json:"prompt_logprobs"`
	PromptIDs      jsontext.Value `json:"prompt_logprob_token_ids"`
	LogprobIDs     jsontext.Value `json:"logprob_token_ids"`
	Trace          jsontext.Value `json:"trace_decode_token_ids"`
	Repetition     jsontext.Value `json:"repetition_detection"`
	Thinking       jsontext.Value `json:"thinking_token_budget"`
	Structured     jsontext.Value `json:"structured_outputs"`
	SkipCache      bool           `json:"skip_reading_prefix_cache"`
	Watermarking   bool           `json:"watermarking"`
	SkipSpecial    *bool          `json:"skip_special_tokens"`
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
	for _, f := range []struct {
		name  string
		given bool
		why   string
	}{
		{"token_ids", len(p.IDs) == 0, "is empty or missing: give the ids of the prompt"},
		{"features", given(p.Features), "is not supported: models here take text alone"},
		{"content_parts", given(p.Content), "is not supported: models here take text alone"},
		{"kv_transfer_params", given(p.KVTransfer), "is not supported: prompts are computed where they are continued"},
		{"ec_transfer_params", given(p.ECTransfer), "is not supported: prompts are computed where they are continued"},
		{"output_mode", p.Mode != "" && p.Mode != "tokens" && p.Mode != "text", "must be tokens or text: for messages there is /v1/chat/completions"},
		{"sampling_params.prompt_logprobs", given(q.PromptLogprobs), "is not supported: /v1/completions has echo with logprobs"},
		{"sampling_params.prompt_logprob_token_ids", given(q.PromptIDs), "is not supported: leave it out"},
		{"sampling_params.logprob_token_ids", given(q.LogprobIDs), "is not supported: logprobs tells of the likeliest ones"},
		{"sampling_params.trace_decode_token_ids", given(q.Trace), "is not supported: leave it out"},
		{"sampling_params.repetition_detection", given(q.Repetition), "is not supported: leave it out"},
		{"sampling_params.thinking_token_budget", given(q.Thinking), "is not supported: leave it out"},
		{"sampling_params.structured_outputs", given(q.Structured), "is not supported: leave it out"},
		{"sampling_params.skip_reading_prefix_cache", q.SkipCache, "is not supported: a cache_salt of its own keeps a request from what others have cached"},
		{"sampling_params.watermarking", q.Watermarking, "is not supported: leave it out"},
		{"sampling_params.skip_special_tokens", p.Mode == "text" && q.SkipSpecial != nil && !*q.SkipSpecial, "must be true for text: token_ids has them"},
		{"sampling_params.max_tokens", q.MaxTokens != nil && *q.MaxTokens == 0, "is 0, must be at least 1"},
		{"priority", p.Priority < -100 || p.Priority > 100, "must be from -100 to 100"},
	} {
		if f.given {
			return bad(f.name, "%s", f.why)
		}
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

// given says whether a value is there, and not null.
func given(v jsontext.Value) bool { return len(v) > 0 && v.Kind() != 'n' }

// or is a value that was given, else another.
func or[T any](given *T, other T) *T {
	if given == nil {
		return &other
	}
	return given
}
