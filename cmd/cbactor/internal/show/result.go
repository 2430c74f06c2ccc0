package show

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/texts"
)

// Result is what became of a request, and its line in JSON. What varies from run to
// run is in it only where it was asked for, so that equal lines mean equal results.
type Result struct {
	RequestID    string              `json:"request_id"`
	PromptIDs    []int32             `json:"prompt_ids"`
	TokenIDs     []int32             `json:"token_ids"` // with the end-of-sequence id that ended it
	Text         string              `json:"text"`      // without it
	FinishReason engine.FinishReason `json:"finish_reason"`
	Stop         string              `json:"stop,omitempty"` // the stop string that ended it
	Usage        engine.Usage        `json:"usage"`
	Error        string              `json:"error,omitempty"` // with engine.FinishFailed

	Logprobs       []*Drawn `json:"logprobs,omitempty"`        // one per token
	PromptLogprobs []*Drawn `json:"prompt_logprobs,omitempty"` // one per token, null for the first
	Timing         *Timing  `json:"timing,omitempty"`

	Err        error         `json:"-"` // what Error was made from
	Shown      string        `json:"-"` // what a person reads: Text, or the ids of a model without a tokenizer
	FirstToken time.Duration `json:"-"` // from the start to the first token; 0: none came

	Preemptions int `json:"-"` // times that it was given up
}

// Timing has the moments of a request, in seconds since it was submitted.
type Timing struct {
	Queued      *float64  `json:"queued,omitempty"`      // when it began to run
	FirstToken  *float64  `json:"first_token,omitempty"` // when that came
	Total       float64   `json:"total"`
	Tokens      []float64 `json:"tokens"`
	Preemptions int       `json:"preemptions"` // times its cache was given up for an older request
}

// NewResult is the result of an output. It has a Timing if the request asked for
// timestamps.
func NewResult(o texts.Output, timestamps bool) *Result {
	r := &Result{RequestID: o.RequestID, PromptIDs: o.PromptIDs, TokenIDs: o.TokenIDs, Text: o.Text, Shown: o.Text, Stop: o.Stopped,
		FinishReason: o.FinishReason, Usage: o.Usage, Err: o.Err, Preemptions: o.Preemptions,
		Logprobs: newDrawn(o.Logprobs), PromptLogprobs: newPromptDrawn(o.PromptLogprobs)}
	if o.Err != nil {
		r.Error = o.Err.Error()
	}
	if !o.Timing.First.IsZero() {
		r.FirstToken = o.Timing.First.Sub(o.Timing.Created)
	}
	if timestamps {
		r.Timing = newTiming(o)
	}
	return r
}

func newTiming(o texts.Output) *Timing {
	t := o.Timing
	since := func(moment time.Time) float64 { return moment.Sub(t.Created).Seconds() }
	timing := &Timing{Total: since(t.Ended), Tokens: []float64{}, Preemptions: o.Preemptions}
	if !t.Started.IsZero() {
		queued := since(t.Started)
		timing.Queued = &queued
	}
	if !t.First.IsZero() {
		first := since(t.First)
		timing.FirstToken = &first
	}
	for _, moment := range t.Tokens {
		timing.Tokens = append(timing.Tokens, since(moment))
	}
	return timing
}

// JSON writes each result as a line of JSON when it ends.
type JSON struct{ enc *json.Encoder }

// NewJSON writes to w, a line in one Write.
func NewJSON(w io.Writer) *JSON {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return &JSON{enc}
}

// Event implements Sink.
func (j *JSON) Event(e Event) error {
	if e.Result == nil {
		return nil
	}
	line := *e.Result
	if line.PromptIDs == nil { // a list in JSON, also when there are none
		line.PromptIDs = []int32{}
	}
	if line.TokenIDs == nil {
		line.TokenIDs = []int32{}
	}
	if err := j.enc.Encode(line); err != nil {
		return fmt.Errorf("write results: %w", err)
	}
	return nil
}

// Close implements Sink.
func (*JSON) Close() error { return nil }
