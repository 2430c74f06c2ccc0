package server

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/executor"
)

// The processed log-probabilities are those of the distribution that is left when
// temperature, top_k and top_p have had their part, as the raw ones of the likeliest give it.
func TestProcessedLogprobs(t *testing.T) {
	r := serveTiny(t, engine.Config{}, Options{})
	const temperature, topK, topP = 0.7, 6, 0.8
	body := object{"prompt": "Once upon a time", "seed": 5, "temperature": temperature, "top_k": topK, "top_p": topP, "max_tokens": 40, "ignore_eos": true,
		"logprobs": 20, "return_tokens_as_token_ids": true, "processed_logprobs": true}
	c := r.ask(completionsPath, body).Choices[0]
	if len(c.Processed) != 40 {
		t.Fatalf("%d processed of %d tokens", len(c.Processed), len(c.Logprobs.Own))
	}
	shaped := 0
	for i, token := range c.Logprobs.Tokens {
		var raw []float64
		for _, v := range c.Logprobs.Top[i] {
			raw = append(raw, v/temperature)
		}
		slices.SortFunc(raw, func(a, b float64) int { return cmp.Compare(b, a) })
		kept, sum := nucleus(raw[:topK], topP)
		want := *c.Logprobs.Own[i]/temperature - math.Log(sum)
		if got := c.Processed[i]; math.Abs(got-want) > 1e-4 {
			t.Errorf("token %d, %s: %g, want %g, raw %g", i, token, got, want, *c.Logprobs.Own[i])
		}
		if kept > 1 {
			shaped++
		}
	}
	if shaped < 5 {
		t.Errorf("only %d tokens had a choice: the test shows little", shaped)
	}
	body["temperature"], body["logprobs"] = 0, nil
	if c := r.ask(completionsPath, body).Choices[0]; c.Logprobs != nil || slices.ContainsFunc(c.Processed, func(v float64) bool { return v != 0 }) || len(c.Processed) != 40 {
		t.Errorf("greedy %v", c.Processed)
	}
	delete(body, "processed_logprobs")
	if c := r.ask(completionsPath, body).Choices[0]; c.Processed != nil {
		t.Errorf("not asked for: %v", c.Processed)
	}
}

// nucleus keeps of the logits of tokens, the likeliest first, so many that they reach a share
// of all: how many, and the sum of their exponentials.
func nucleus(logits []float64, share float64) (kept int, sum float64) {
	all := 0.0
	for _, v := range logits {
		all += math.Exp(v)
	}
	for sum < share*all {
		sum += math.Exp(logits[kept])
		kept++
	}
	return kept, sum
}

// A stream tells the same processed log-probabilities and versions as the whole, by every route.
func TestProvenanceStreamed(t *testing.T) {
	r := serveTiny(t, engine.Config{}, Options{})
	for path, body := range map[string]object{
		completionsPath: {"prompt": []string{"One day", "Lily and Tim"}, "n": 2, "stop": "the"},
		chatPath:        {"messages": say("Write a story."), "n": 2},
	} {
		body["seed"], body["max_tokens"], body["processed_logprobs"] = 7, 30, true
		whole, streamed := r.ask(path, body), r.streamed(path, body)
		for i, c := range whole.Choices {
			s := streamed.Choices[i]
			if !slices.Equal(c.Processed, s.Processed) || c.Weights == nil || !slices.Equal(c.Weights.Spans, s.Weights.Spans) || !slices.Equal(c.Weights.KV, s.Weights.KV) || len(c.Processed) != c.Weights.Spans[0].End {
				t.Errorf("%s %d: %v by %+v, streamed %v by %+v", path, i, c.Processed, c.Weights, s.Processed, s.Weights)
			}
		}
	}
}

// A response has them beside its output, and its deltas theirs.
func TestResponsesTellVersions(t *testing.T) {
	r := serveTiny(t, engine.Config{}, Options{})
	type answer struct {
		Type      string
		Metadata  map[string]string
		Weights   *weightsTold `json:"x_weights"`
		Processed []float64    `json:"x_logprobs"`
		Response  *answer
	}
	ask := object{"input": "Write a story.", "seed": 2, "max_output_tokens": 20, "processed_logprobs": true}
	_, header, data := r.post("/v1/responses", ask)
	var whole answer
	if err := json.Unmarshal(data, &whole); err != nil {
		t.Fatal(err)
	}
	if w := whole.Weights; w == nil || !covers(w.Spans, 20) || len(w.KV) != 1 || len(whole.Processed) != 20 || len(whole.Metadata) > 0 || header.Get(versionHeader) != engine.FirstVersion {
		t.Errorf("%s: %s", header.Get(versionHeader), data)
	}
	ask["stream"] = true
	_, header, data = r.post("/v1/responses", ask)
	var deltas []float64
	var told []weightSpan
	for _, piece := range pieces(data) {
		var e answer
		if err := json.Unmarshal(piece, &e); err != nil {
			t.Fatal(err)
		}
		deltas = append(deltas, e.Processed...)
		if e.Weights != nil {
			told = append(told, e.Weights.Spans...)
		}
		if strings.HasSuffix(e.Type, "completed") && !slices.Equal(e.Response.Processed, whole.Processed) {
			t.Errorf("the end tells %v, want %v", e.Response.Processed, whole.Processed)
		}
	}
	if !slices.Equal(deltas, whole.Processed) || len(told) != 1 || told[0].Start != 0 || told[0].Version != engine.FirstVersion || header.Get(versionHeader) != engine.FirstVersion {
		t.Errorf("deltas tell %v, %v, want %v", deltas, told, whole.Processed)
	}
}

// Who wants newer weights than there are is told to come again, and wrong values are refused.
func TestVersionFields(t *testing.T) {
	r := serveEcho(t, executor.EchoConfig{Blocks: 64}, engine.Config{}, Options{})
	with := func(key string, v any) object { return object{"prompt": count(3), "max_tokens": 2, key: v} }
	r.refused(completionsPath, with("min_weight_version", "v9"), 503, "", "stale_weights")
	for key, list := range map[string][]any{"max_staleness": {-1, 1<<30 + 1, "a"}, "kv_policy": {"drop", 1}, "min_weight_version": {1}, "processed_logprobs": {1}} {
		for _, v := range list {
			r.refused(completionsPath, with(key, v), 400, key, "invalid_value")
		}
	}
	for key, v := range map[string]any{"min_weight_version": engine.FirstVersion, "max_staleness": 1 << 30, "kv_policy": "recompute"} {
		if a := r.ask(completionsPath, with(key, v)); a.Choices[0].FinishReason != "length" {
			t.Errorf("%s: %+v", key, a)
		}
	}
	r.server.models[0].trainer.labels.set(engine.FirstVersion, "step 3")
	called := with("min_weight_version", "step 3")
	if _, header, data := r.post(completionsPath, called); header.Get(versionHeader) != "step 3" || r.read(data).Choices[0].Weights.Spans[0].Version != "step 3" {
		t.Errorf("a version with a label: %v %s", header, data)
	}
	if a := r.ask(completionsPath, object{"prompt": count(3), "max_tokens": 0, "echo": true}); a.Choices[0].Weights == nil || len(a.Choices[0].Weights.Spans) > 0 || !covers(a.Choices[0].Weights.KV, 3) {
		t.Errorf("a prompt alone: %+v", a.Choices[0].Weights)
	}
}

// What is told of the cache stays when later chunks tell nothing of it.
func TestProvenanceAdds(t *testing.T) {
	kv := []weightSpan{{"1", 0, 3}}
	var p provenance
	for _, next := range []provenance{
		{Weights: &weightsTold{Spans: []weightSpan{{"1", 0, 1}}, KV: kv}},
		{Processed: []float64{-1}},
		{Weights: &weightsTold{Spans: []weightSpan{{"2", 1, 2}}}},
	} {
		p.add(next)
	}
	if w := p.Weights; len(w.Spans) != 2 || !slices.Equal(w.KV, kv) || len(p.Processed) != 1 {
		t.Errorf("%+v of %+v", w, p)
	}
	if p.add(provenance{Weights: &weightsTold{KV: []weightSpan{{"2", 0, 4}}}}); p.Weights.KV[0].Version != "2" {
		t.Errorf("%+v", p.Weights)
	}
}
