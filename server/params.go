package server

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/cbactor/cbactor/engine/texts"
	"github.com/cbactor/cbactor/sampling"
)

// params are what all routes that generate take, beside the prompt and what their answer
// looks like. What is nil was not given.
type params struct {
	Model         string         `json:"model"`
	N             *int           `json:"n"`
	Stream        bool           `json:"stream"`
	StreamOptions *streamOptions `json:"stream_options"`
	MaxTokens     *int           `json:"max_tokens"`
	Stop          stops          `json:"stop"`
	Seed          *int64         `json:"seed"`
	User          string         `json:"user"`

	Temperature       *float64           `json:"temperature"`
	TopP              *float64           `json:"top_p"`
	TopK              *int               `json:"top_k"`
	MinP              *float64           `json:"min_p"`
	PresencePenalty   *float64           `json:"presence_penalty"`
	FrequencyPenalty  *float64           `json:"frequency_penalty"`
	RepetitionPenalty *float64           `json:"repetition_penalty"`
	LogitBias         map[string]float64 `json:"logit_bias"`
	BadWords          []string           `json:"bad_words"`
	AllowedIDs        []int32            `json:"allowed_token_ids"`

	MinTokens   *int    `json:"min_tokens"`
	IgnoreEOS   bool    `json:"ignore_eos"`
	StopIDs     []int32 `json:"stop_token_ids"`
	IncludeStop bool    `json:"include_stop_str_in_output"`

	Priority          *int     `json:"priority"`
	CacheSalt         string   `json:"cache_salt"`
	Timeout           *float64 `json:"timeout"`
	FirstTokenTimeout *float64 `json:"first_token_timeout"`

	versionParams

	ReturnIDs   bool `json:"return_token_ids"`
	TokensAsIDs bool `json:"return_tokens_as_token_ids"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

// request is the request that all prompts of a call share, over what its model's authors
// recommend.
func (p *params) request(m *Model, saltByUser bool) (r texts.Request, err error) {
	if p.StreamOptions != nil && !p.Stream {
		return r, bad("stream_options", "is for stream: true")
	}
	r.Sampling = sampling.Params{Temperature: 1}
	if m.Defaults != nil {
		r.Sampling = *m.Defaults
	}
	r.IgnoreEOS, r.KeepStop, r.StopIDs, r.BadWords = p.IgnoreEOS, p.IncludeStop, p.StopIDs, p.BadWords
	r.Stop, r.Salt = p.Stop, saltOf(p.CacheSalt, p.User, saltByUser)
	if p.Seed != nil {
		seed := uint64(*p.Seed)
		r.Seed = &seed
	}
	for _, set := range []func(*texts.Request) error{p.setCounts, p.setNumbers, p.setBias, p.setTimes} {
		if err := set(&r); err != nil {
			return r, err
		}
	}
	err = p.setVersions(m, &r)
	return r, err
}

// saltOf keeps apart the caches of those who ask for it, and, where it shall, of users.
func saltOf(salt, user string, byUser bool) string {
	switch {
	case salt != "":
		return fmt.Sprintf("salt %q", salt)
	case byUser && user != "":
		return fmt.Sprintf("user %q", user)
	}
	return ""
}

func (p *params) setCounts(r *texts.Request) error {
	n, minNew, topK := 1, 0, int(r.Sampling.TopK)
	for _, f := range []struct {
		name string
		from *int
		to   *int
	}{
		{"n", p.N, &n}, {"max_tokens", p.MaxTokens, &r.MaxNewTokens}, {"min_tokens", p.MinTokens, &minNew},
		{"top_k", p.TopK, &topK}, {"priority", p.Priority, &r.Priority},
	} {
		if f.from == nil {
			continue
		}
		if err := within(f.name, float64(*f.from)); err != nil {
			return err
		}
		*f.to = *f.from
	}
	r.N, r.Sampling.MinNew, r.Sampling.TopK = n, int32(minNew), int32(max(topK, 0))
	return nil
}

func (p *params) setNumbers(r *texts.Request) error {
	s := &r.Sampling
	for _, f := range []struct {
		name string
		from *float64
		to   *float32
	}{
		{"temperature", p.Temperature, &s.Temperature},
		{"top_p", p.TopP, &s.TopP},
		{"min_p", p.MinP, &s.MinP},
		{"presence_penalty", p.PresencePenalty, &s.PresencePenalty},
		{"frequency_penalty", p.FrequencyPenalty, &s.FrequencyPenalty},
		{"repetition_penalty", p.RepetitionPenalty, &s.RepetitionPenalty},
	} {
		if f.from == nil {
			continue
		}
		if err := within(f.name, *f.from); err != nil {
			return err
		}
		*f.to = float32(*f.from)
	}
	s.Allowed = p.AllowedIDs
	return nil
}

func (p *params) setBias(r *texts.Request) error {
	if len(p.LogitBias) > maxBias {
		return bad("logit_bias", "has %d ids, at most %d may be", len(p.LogitBias), maxBias)
	}
	for key, value := range p.LogitBias {
		id, err := strconv.ParseInt(key, 10, 32)
		if err != nil || id < 0 || strconv.FormatInt(id, 10) != key {
			return bad("logit_bias", "has the key %.40q, must be token ids", key)
		}
		if !(math.Abs(value) <= 100) {
			return bad("logit_bias", "of id %d is %g, must be from -100 to 100", id, value)
		}
		r.Sampling.Bias = append(r.Sampling.Bias, sampling.Bias{ID: int32(id), Value: float32(value)})
	}
	slices.SortFunc(r.Sampling.Bias, func(a, b sampling.Bias) int { return cmp.Compare(a.ID, b.ID) })
	return nil
}

func (p *params) setTimes(r *texts.Request) (err error) {
	for _, f := range []struct {
		name string
		from *float64
		to   *time.Duration
	}{{"timeout", p.Timeout, &r.Deadline}, {"first_token_timeout", p.FirstTokenTimeout, &r.FirstToken}} {
		if f.from == nil {
			continue
		}
		if *f.to, err = seconds(f.name, *f.from); err != nil {
			return err
		}
	}
	return nil
}

// seconds reads a time.
func seconds(name string, n float64) (time.Duration, error) {
	if err := within(name, n); err != nil {
		return 0, err
	}
	return time.Duration(n * float64(time.Second)), nil
}

// tell is what is to be told of tokens, as many of the likeliest ones beside each; nil: nothing.
func tell(name string, top *int) (t sampling.Tell, err error) {
	if top == nil {
		return t, nil
	}
	if err := within(name, float64(*top)); err != nil {
		return t, err
	}
	return sampling.Tell{Logprobs: true, Top: int32(*top)}, nil
}
