package show_test

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/cbactor/cbactor/cmd/cbactor/internal/show"
	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/texts"
	"github.com/cbactor/cbactor/sampling"
)

// jsonLine is the line of JSON of a result.
func jsonLine(t *testing.T, r *show.Result) string {
	t.Helper()
	var b bytes.Buffer
	if err := show.NewJSON(&b).Event(show.Event{Result: r}); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// F3 (sglang#4097): log-probabilities are finite in JSON, also where there is none or it
// is no number, and stand beside their tokens.
func TestLogprobsInJSON(t *testing.T) {
	never, none := float32(math.Inf(-1)), float32(math.NaN())
	out := engine.Output{
		RequestID: "a", PromptIDs: []int32{1, 2}, TokenIDs: []int32{3, 4}, FinishReason: engine.FinishLength,
		Logprobs: []sampling.Drawn{
			{Logprob: sampling.Logprob{ID: 3, Raw: -0.5, Sampled: 0}, Top: []sampling.Logprob{{ID: 3, Raw: -0.5}, {ID: 9, Raw: never, Sampled: none}}, Kept: []int32{3}, KeptCount: 1},
			{Logprob: sampling.Logprob{ID: 4, Raw: -1e30, Sampled: -0.25}},
		},
		PromptLogprobs: []sampling.Drawn{{Logprob: sampling.Logprob{ID: 2, Raw: -1.5, Sampled: -1.5}}},
	}
	want := `"logprobs":[{"id":3,"raw":-0.5,"sampled":0,"top":[{"id":3,"raw":-0.5,"sampled":0},{"id":9,"raw":-9999,"sampled":-9999}],"kept_count":1,"kept":[3]},` +
		`{"id":4,"raw":-9999,"sampled":-0.25}],"prompt_logprobs":[null,{"id":2,"raw":-1.5,"sampled":-1.5}]}`
	if got := jsonLine(t, show.NewResult(texts.Output{Output: out}, false)); !strings.HasSuffix(got, want) {
		t.Errorf("got %s want %s", got, want)
	}
}

func TestTimingInJSON(t *testing.T) {
	start := time.Unix(100, 0)
	after := func(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }
	out := engine.Output{Preemptions: 2, Timing: engine.Timing{Created: start, Started: after(250), First: after(500), Ended: after(1500), Tokens: []time.Time{after(500), after(1500)}}}
	if got, want := jsonLine(t, show.NewResult(texts.Output{Output: out}, true)), `"timing":{"queued":0.25,"first_token":0.5,"total":1.5,"tokens":[0.5,1.5],"preemptions":2}}`; !strings.HasSuffix(got, want) {
		t.Errorf("got %s want %s", got, want)
	}
	if got := jsonLine(t, show.NewResult(texts.Output{Output: out}, false)); strings.Contains(got, "timing") {
		t.Errorf("not asked for: %s", got)
	}
	never := engine.Output{Timing: engine.Timing{Created: start, Ended: after(1)}}
	if got, want := jsonLine(t, show.NewResult(texts.Output{Output: never}, true)), `"timing":{"total":0.001,"tokens":[],"preemptions":0}}`; !strings.HasSuffix(got, want) {
		t.Errorf("got %s want %s", got, want)
	}
}
