package server

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/cbactor/cbactor/engine/texts"
)

// sglangParams are what POST /generate takes: SGLang's fields, model, and what all our routes
// take about versions of the weights.
type sglangParams struct {
	versionParams
	Model    string                    `json:"model"`
	Text     oneOrMany[string]         `json:"text"`
	InputIDs idLists                   `json:"input_ids"`
	RID      oneOrMany[string]         `json:"rid"`
	Sampling oneOrMany[sglangSampling] `json:"sampling_params"`
	Stream   bool                      `json:"stream"`

	Logprobs  oneOrMany[bool] `json:"return_logprob"`
	From      oneOrMany[int]  `json:"logprob_start_len"` // place in the prompt; -1: behind it
	Top       oneOrMany[int]  `json:"top_logprobs_num"`
	Spelled   bool            `json:"return_text_in_logprobs"`
	PromptIDs bool            `json:"return_prompt_token_ids"`

	Adapter  oneOrMany[string] `json:"lora_path"`
	Priority int               `json:"priority"`
	Salt     oneOrMany[string] `json:"cache_salt"`
	Extra    oneOrMany[string] `json:"extra_key"`

	Rest map[string]jsontext.Value `json:",embed"`
}

// sglangRefused are the other fields that would change an answer, with what to do instead.
var sglangRefused = map[string]string{
	"input_embeds":                        "send text or input_ids",
	"positional_embed_overrides":          "send text or input_ids",
	"image_data":                          "send text or input_ids: the models are of text",
	"video_data":                          "send text or input_ids: the models are of text",
	"audio_data":                          "send text or input_ids: the models are of text",
	"session_params":                      "send the whole prompt: the prefix cache has what was computed of it",
	"token_ids_logprob":                   "read the log-probabilities of top_logprobs_num",
	"return_sampling_mask":                "ask for processed_logprobs",
	"sampling_logprobs_mode":              "ask for processed_logprobs",
	"return_hidden_states":                "leave it out",
	"return_routed_experts":               "leave it out",
	"return_indexer_topk":                 "leave it out",
	"return_entropy":                      "leave it out",
	"return_flat_raw_top_logprobs":        "read input_top_logprobs",
	"return_flat_raw_output_top_logprobs": "read output_top_logprobs",
	"custom_logit_processor":              "leave it out: no code of clients is run",
	"watermark":                           "leave it out",
	"max_thinking_tokens":                 "bound max_new_tokens",
	"multi_item_delimiter_indices":        "send a prompt for each item",
	"token_indices_to_pool":               "leave it out",
	"bootstrap_host":                      "send the prompt to the server that generates: it computes the prompt, too",
}

// sglangGenerate answers POST /generate.
func (s *Server) sglangGenerate(w http.ResponseWriter, r *http.Request) error {
	var p sglangParams
	if err := s.read(w, r, &p); err != nil {
		return err
	}
	if err := refused(p.Rest, sglangRefused); err != nil {
		return err
	}
	list, prompt, err := p.prompts()
	if err != nil {
		return err
	}
	m, adapter, err := s.find(p.Model)
	if err != nil {
		return err
	}
	c := &call{id: idOf(r), model: m, name: m.Name, prompt: prompt, least: "min_new_tokens", processed: p.Processed, request: idOf(r)}
	if !p.RID.many {
		c.request = p.RID.or(0, c.request)
	}
	a := &sglanging{call: c, params: &p}
	if err := a.settle(s, len(list), adapter); err != nil {
		return err
	}
	return s.generate(w, r, c, &params{Stream: p.Stream}, list, a)
}

// refused refuses fields that nothing is done for. Null, false, 0 and what is empty ask for
// nothing.
func refused(fields map[string]jsontext.Value, instead map[string]string) error {
	nothing := []string{"null", "false", "0", `""`, "[]", "{}"}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if what, known := instead[name]; known && !slices.Contains(nothing, string(fields[name])) {
			return bad(name, "is not supported: %s", what)
		}
	}
	return nil
}

// inside is a refusal of a parameter that stands within another one.
func inside(param string, err error) error {
	var r *refusal
	if !errors.As(err, &r) || r.param == "" {
		return err
	}
	in := *r
	in.param, in.message = param+"."+r.param, param+"."+r.message
	return &in
}

// prompts are those of a call, and the parameter that has them.
func (p *sglangParams) prompts() (list []texts.Prompt, param string, err error) {
	switch {
	case p.Text.list == nil && p.InputIDs.list == nil:
		return nil, "", bad("text", "is missing: give it or input_ids")
	case p.Text.list != nil && p.InputIDs.list != nil:
		return nil, "", bad("input_ids", "is given beside text: leave one out")
	}
	for i, t := range p.Text.list {
		if t == nil {
			return nil, "", bad("text", "is null for prompt %d", i)
		}
		list = append(list, texts.Prompt{Text: t})
	}
	for _, ids := range p.InputIDs.list {
		list = append(list, texts.Prompt{IDs: ids})
	}
	if len(list) == 0 {
		return nil, "", bad("text", "is empty: give at least one")
	}
	if p.Text.list != nil {
		return list, "text", nil
	}
	return list, "input_ids", nil
}

// one says that there is one prompt, which is not in a list of prompts.
func (p *sglangParams) one() bool { return !p.Text.many && !p.InputIDs.many }

// fits refuses lists that have no value for each of n prompts.
func (p *sglangParams) fits(n int) error {
	for _, f := range []struct {
		name string
		many bool
		n    int
	}{
		{"rid", p.RID.many, len(p.RID.list)},
		{"sampling_params", p.Sampling.many, len(p.Sampling.list)},
		{"return_logprob", p.Logprobs.many, len(p.Logprobs.list)},
		{"logprob_start_len", p.From.many, len(p.From.list)},
		{"top_logprobs_num", p.Top.many, len(p.Top.list)},
		{"lora_path", p.Adapter.many, len(p.Adapter.list)},
		{"cache_salt", p.Salt.many, len(p.Salt.list)},
		{"extra_key", p.Extra.many, len(p.Extra.list)},
	} {
		if f.many && f.n != n {
			return bad(f.name, "has %d values, there are %d prompts: give one for each, or one for all", f.n, n)
		}
	}
	return nil
}

// ridOf is the id of the request of a prompt: an id for all has its place behind it.
func (p *sglangParams) ridOf(call string, i int) (string, error) {
	rid := p.RID.at(i)
	if rid == nil || *rid == "" {
		rid = &call
	}
	if len(*rid) > maxName {
		return "", bad("rid", "has %d bytes, at most %d may be", len(*rid), maxName)
	}
	if p.one() || p.RID.many {
		return *rid, nil
	}
	return fmt.Sprintf("%s_%d", *rid, i), nil
}
