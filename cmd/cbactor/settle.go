package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cbactor/cbactor/cmd/cbactor/internal/requests"
	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/sampling"
	"github.com/cbactor/cbactor/text"
)

// decoding is how the ids of a job become text.
type decoding struct {
	codec   *text.Codec // nil: they do not
	stops   *text.Stops // nil: none
	include bool        // the stop string is part of the text
}

func (d decoding) session() *text.Session {
	if d.stops == nil {
		return text.NewSession(d.codec)
	}
	return d.stops.NewSession(d.include)
}

// settle turns what is asked for into a request, but for its id and prompt, and into
// how its text is read.
func (m maker) settle(s requests.Settings) (engine.Request, decoding, error) {
	d := decoding{codec: m.model.codec}
	r := engine.Request{MaxNewTokens: defaultMaxNew, N: s.Sequences(), Sampling: params(m.recommended, s), Seed: s.Seed}
	set(&r.Score, s.Score)
	if r.Score {
		r.MaxNewTokens = 0
	}
	set(&r.MaxNewTokens, s.MaxNewTokens)
	set(&r.IgnoreEOS, s.IgnoreEOS)
	set(&r.Priority, s.Priority)
	set(&r.Deadline, s.Timeout)
	set(&r.FirstToken, s.FirstTokenTimeout)
	set(&r.Timestamps, s.Timestamps)
	var err error
	if s.BadWords != nil {
		if r.Sampling.BadWords, err = m.badWords(s.BadWords); err != nil {
			return r, d, err
		}
	}
	m.endByIDs(&r, &d, s.StopIDs)
	if len(s.Stop) == 0 {
		return r, d, nil
	}
	if d.codec == nil {
		return r, d, fmt.Errorf("stop: %w", m.model.noCodec)
	}
	if d.stops, err = text.NewStops(d.codec, s.Stop); err != nil {
		return r, d, err
	}
	set(&d.include, s.IncludeStop)
	stops := d.stops
	r.Stop = func() engine.Matcher { return stops.NewMatcher() }
	return r, d, nil
}

// endByIDs has more ids end the request, which are not shown. The model's own are
// among the request's then, unless they are to be ignored.
func (m maker) endByIDs(r *engine.Request, d *decoding, ids []int32) {
	if len(ids) == 0 {
		return
	}
	r.EOS = ids
	if !r.IgnoreEOS {
		r.EOS = slices.Concat(m.model.eos, ids)
	}
	r.IgnoreEOS = false
	if d.codec != nil {
		d.codec = d.codec.Hiding(ids)
	}
}

// badWords are the ids of what must not be generated. A text has those that the
// tokenizer gives it at the start of a text and those behind a space.
func (m maker) badWords(list []requests.Word) ([][]int32, error) {
	var words [][]int32
	for _, w := range list {
		switch {
		case w.Text == "":
			words = append(words, w.IDs)
		case m.model.codec == nil:
			return nil, fmt.Errorf("bad_words: %w", m.model.noCodec)
		default:
			words = append(words, m.model.codec.EncodeRaw(w.Text))
			if !strings.HasPrefix(w.Text, " ") {
				words = append(words, m.model.codec.EncodeRaw(" "+w.Text))
			}
		}
	}
	return words, nil
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
