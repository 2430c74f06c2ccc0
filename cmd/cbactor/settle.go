package main

import (
	"github.com/cbactor/cbactor/cmd/cbactor/internal/requests"
	"github.com/cbactor/cbactor/engine/texts"
	"github.com/cbactor/cbactor/sampling"
)

// settle turns what is asked for into a request, but for its id and prompt.
func (m maker) settle(s requests.Settings) texts.Request {
	r := texts.Request{Stop: s.Stop, StopIDs: s.StopIDs}
	r.MaxNewTokens, r.N, r.Sampling, r.Seed = defaultMaxNew, s.Sequences(), params(m.model.recommended, s), s.Seed
	set(&r.Score, s.Score)
	if r.Score {
		r.MaxNewTokens = 0
	}
	set(&r.MaxNewTokens, s.MaxNewTokens)
	set(&r.IgnoreEOS, s.IgnoreEOS)
	set(&r.Priority, s.Priority)
	set(&r.Adapter, s.Adapter)
	set(&r.Deadline, s.Timeout)
	set(&r.FirstToken, s.FirstTokenTimeout)
	set(&r.Timestamps, s.Timestamps)
	set(&r.KeepStop, s.IncludeStop)
	if s.BadWords != nil {
		r.Sampling.BadWords = nil
	}
	for _, w := range s.BadWords {
		if w.Text == "" {
			r.Sampling.BadWords = append(r.Sampling.BadWords, w.IDs)
		} else {
			r.BadWords = append(r.BadWords, w.Text)
		}
	}
	return r
}

// params puts what is asked for over p.
func params(p sampling.Params, s requests.Settings) sampling.Params {
	for _, f := range []struct {
		to   *float32
		from *float64
	}{
		{&p.Temperature, s.Temperature}, {&p.TopP, s.TopP}, {&p.MinP, s.MinP}, {&p.TypicalP, s.TypicalP},
		{&p.RepetitionPenalty, s.RepetitionPenalty}, {&p.PresencePenalty, s.PresencePenalty}, {&p.FrequencyPenalty, s.FrequencyPenalty},
	} {
		if f.from != nil {
			*f.to = float32(*f.from)
		}
	}
	for _, f := range []struct {
		to   *int32
		from *int
	}{{&p.TopK, s.TopK}, {&p.NoRepeatNgram, s.NoRepeatNgram}, {&p.MinNew, s.MinNewTokens}} {
		if f.from != nil {
			*f.to = int32(*f.from)
		}
	}
	for _, b := range s.LogitBias { // of which no model recommends any
		p.Bias = append(p.Bias, sampling.Bias{ID: b.ID, Value: float32(b.Value)})
	}
	p.Allowed = s.AllowedIDs
	p.Tell = tell(s)
	return p
}

// tell is what is to be told of tokens. The kept ones are told with log-probabilities.
func tell(s requests.Settings) (t sampling.Tell) {
	set(&t.Kept, s.KeptTokens)
	set(&t.Prompt, s.PromptLogprobs)
	t.Logprobs = t.Kept
	if s.Logprobs != nil && *s.Logprobs >= 0 {
		t.Logprobs, t.Top = true, int32(*s.Logprobs)
	}
	return t
}

// set puts a value that is there in the place of a default.
func set[T any](to *T, from *T) {
	if from != nil {
		*to = *from
	}
}
