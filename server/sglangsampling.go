package server

import (
	"math"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/cbactor/cbactor/engine/texts"
	"github.com/cbactor/cbactor/text/grammar"
)

// sglangMaxNew is how many tokens SGLang generates where nothing is said.
const sglangMaxNew = 128

// sglangSampling are SGLang's sampling_params. A trainer divides its own logits by what it
// asked for and nothing else, so what is left out has no effect here, whatever the model's
// authors recommend.
type sglangSampling struct {
	MaxNew  *int              `json:"max_new_tokens"` // null: until the context is full
	MinNew  int               `json:"min_new_tokens"`
	N       *int              `json:"n"`
	Stop    oneOrMany[string] `json:"stop"`
	StopIDs []*int32          `json:"stop_token_ids"`

	Temperature       *float64           `json:"temperature"`
	TopP              *float64           `json:"top_p"`
	TopK              *int               `json:"top_k"`
	MinP              *float64           `json:"min_p"`
	PresencePenalty   *float64           `json:"presence_penalty"`
	FrequencyPenalty  *float64           `json:"frequency_penalty"`
	RepetitionPenalty *float64           `json:"repetition_penalty"`
	LogitBias         map[string]float64 `json:"logit_bias"`
	Seed              *int64             `json:"sampling_seed"`

	IgnoreEOS   bool   `json:"ignore_eos"`
	SkipSpecial *bool  `json:"skip_special_tokens"`
	KeepStop    bool   `json:"no_stop_trim"`
	Schema      string `json:"json_schema"`
	Regex       string `json:"regex"`

	Rest map[string]jsontext.Value `json:",embed"`
}

// sglangSamplingRefused are the other fields that would change what is generated.
var sglangSamplingRefused = map[string]string{
	"stop_regex":     "give stop strings, or a regex that the whole text matches",
	"ebnf":           "give json_schema or regex",
	"structural_tag": "give json_schema or regex",
	"beam_width":     "leave it out",
	"watermark":      "leave it out",
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (p *sglangSampling) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	type fields sglangSampling
	*p = sglangSampling{MaxNew: new(sglangMaxNew)}
	return json.UnmarshalDecode(dec, (*fields)(p))
}

// request is a request without a prompt.
func (p *sglangSampling) request() (r texts.Request, err error) {
	if err := refused(p.Rest, sglangSamplingRefused); err != nil {
		return r, err
	}
	shared := params{
		N: p.N, Seed: p.Seed, Temperature: p.Temperature, TopP: p.TopP, TopK: p.TopK, MinP: p.MinP,
		PresencePenalty: p.PresencePenalty, FrequencyPenalty: p.FrequencyPenalty, RepetitionPenalty: p.RepetitionPenalty,
		LogitBias: p.LogitBias, IgnoreEOS: p.IgnoreEOS, IncludeStop: p.KeepStop,
	}
	for _, s := range p.Stop.list {
		if s != nil {
			shared.Stop = append(shared.Stop, *s)
		}
	}
	for _, id := range p.StopIDs {
		if id != nil {
			shared.StopIDs = append(shared.StopIDs, *id)
		}
	}
	if r, err = shared.request(&Model{}, false); err != nil {
		return r, err
	}
	if err := p.setCounts(&r); err != nil {
		return r, err
	}
	return r, p.setGrammar(&r)
}

func (p *sglangSampling) setCounts(r *texts.Request) error {
	if p.MinNew < 0 || p.MinNew > math.MaxInt32 {
		return bad("min_new_tokens", "is %d, must be from 0 to %d", p.MinNew, math.MaxInt32)
	}
	r.Sampling.MinNew = int32(p.MinNew)
	if p.MaxNew == nil {
		return nil
	}
	if *p.MaxNew < p.MinNew || *p.MaxNew > math.MaxInt32 {
		return bad("max_new_tokens", "is %d, must be from min_new_tokens (%d) to %d", *p.MaxNew, p.MinNew, math.MaxInt32)
	}
	r.MaxNewTokens, r.Score = *p.MaxNew, *p.MaxNew == 0
	return nil
}

func (p *sglangSampling) setGrammar(r *texts.Request) error {
	switch {
	case p.Schema != "" && p.Regex != "":
		return bad("regex", "is given beside json_schema: leave one out")
	case p.Schema != "":
		r.Grammar = &grammar.Spec{Schema: []byte(p.Schema)}
	case p.Regex != "":
		r.Grammar = &grammar.Spec{Regex: p.Regex}
	}
	return nil
}
