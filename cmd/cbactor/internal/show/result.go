package show

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/cbactor/cbactor/engine"
)

// Result is what became of a request, and its line in JSON.
type Result struct {
	RequestID    string              `json:"request_id"`
	PromptIDs    []int32             `json:"prompt_ids"`
	TokenIDs     []int32             `json:"token_ids"` // with the end-of-sequence id that ended it
	Text         string              `json:"text"`      // without it
	FinishReason engine.FinishReason `json:"finish_reason"`
	Usage        engine.Usage        `json:"usage"`
	Error        string              `json:"error,omitempty"` // with engine.FinishFailed

	Err        error         `json:"-"` // what Error was made from
	Shown      string        `json:"-"` // what a person reads: Text, or the ids of a model without a tokenizer
	FirstToken time.Duration `json:"-"` // from the start to the first token; 0: none came

	Preemptions int `json:"-"` // times that it was given up
}

// NewResult is the result of an output and the text of its tokens.
func NewResult(o engine.Output, text string) *Result {
	r := &Result{RequestID: o.RequestID, PromptIDs: o.PromptIDs, TokenIDs: o.TokenIDs, Text: text, Shown: text,
		FinishReason: o.FinishReason, Usage: o.Usage, Err: o.Err, Preemptions: o.Preemptions}
	if o.Err != nil {
		r.Error = o.Err.Error()
	}
	if !o.Timing.First.IsZero() {
		r.FirstToken = o.Timing.First.Sub(o.Timing.Created)
	}
	return r
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
