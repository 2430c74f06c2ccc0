package server

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/executor"
)

const generatePath = "/inference/v1/generate"

// toldGenerated is an answer of vLLM's route for token ids, or a chunk of one.
type toldGenerated struct {
	RequestID string `json:"request_id"`
	Model     string
	Mode      string  `json:"output_mode"`
	PromptIDs []int32 `json:"prompt_token_ids"`
	Usage     *toldUsage
	Choices   []toldSequence
}

type toldSequence struct {
	Index    int
	IDs      []int32 `json:"token_ids"`
	Text     *string
	Finish   *string `json:"finish_reason"`
	Stop     any     `json:"stop_reason"`
	Logprobs *struct {
		Content []struct {
			ID      int32 `json:"token_id"`
			Token   string
			Logprob float64
			Rank    *int
			Top     []struct {
				ID      int32 `json:"token_id"`
				Logprob float64
				Rank    *int
			} `json:"top_logprobs"`
		}
	}
	Versions []struct {
		Version    string
		Start, End int
	} `json:"weight_versions"`
}

func (r *rig) generated(body any) (a toldGenerated) {
	r.t.Helper()
	status, _, data := r.post(generatePath, body)
	if err := json.Unmarshal(data, &a); err != nil || status != 200 {
		r.t.Fatalf("%v: %d: %s: %v", body, status, data, err)
	}
	return a
}

// What TRL sends for prompts with images, but for these.
func TestGenerateAsTRLAsks(t *testing.T) {
	r := serveTiny(t, engine.Config{}, Options{})
	prompt := r.codec.Encode("Once upon a time")
	a := r.generated(object{"request_id": "trl-0123", "model": "tiny", "token_ids": prompt, "features": nil, "sampling_params": object{
		"n": 2, "repetition_penalty": 1.0, "temperature": 1.0, "top_p": 1.0, "top_k": 0, "min_p": 0.0, "max_tokens": 6, "logprobs": 0, "output_kind": 2, "structured_outputs": nil,
	}})
	if a.RequestID != "trl-0123" || a.Model != "tiny" || a.Mode != "tokens" || a.PromptIDs != nil || len(a.Choices) != 2 || a.Usage.Completion != 12 || a.Usage.Prompt != len(prompt) {
		t.Fatalf("%+v", a)
	}
	for i, c := range a.Choices {
		if c.Index != i || len(c.IDs) != 6 || *c.Finish != "length" || c.Stop != nil || c.Text != nil || len(c.Logprobs.Content) != 6 {
			t.Fatalf("%+v", c)
		}
		for at, l := range c.Logprobs.Content {
			if l.ID != c.IDs[at] || !(l.Logprob < 0) || len(l.Top) != 1 || l.Top[0].ID != l.ID || l.Top[0].Logprob != l.Logprob {
				t.Errorf("token %d: %+v", at, l)
			}
		}
		if len(c.Versions) != 1 || c.Versions[0].Start != 0 || c.Versions[0].End != 6 || c.Versions[0].Version == "" {
			t.Errorf("%+v", c.Versions)
		}
	}
}

// A text has the format that is asked for.
func TestGenerateFormats(t *testing.T) {
	r := serveTiny(t, engine.Config{}, Options{})
	for _, c := range r.generated(object{"token_ids": []int{5}, "output_mode": "text", "sampling_params": object{"n": 4, "max_tokens": 50, "structured_outputs": object{"choice": []string{"yes", "no"}}}}).Choices {
		if text := value(c.Text); text != "yes" && text != "no" {
			t.Errorf("%q", text)
		}
	}
}

// What a stream tells is what the whole answer tells, for ids and for text.
func TestGenerateStreamed(t *testing.T) {
	r := serveTiny(t, engine.Config{}, Options{})
	for _, mode := range []string{"tokens", "text"} {
		body := object{"token_ids": r.codec.Encode("One day"), "output_mode": mode, "return_token_ids": true, "stream_options": object{"include_usage": true},
			"sampling_params": object{"n": 2, "seed": 5, "max_tokens": 7, "logprobs": 3, "stop": nil}}
		streamed := r.generatedStream(body)
		delete(body, "stream")
		delete(body, "stream_options")
		whole := r.generated(body)
		whole.RequestID, streamed.RequestID = "", ""
		if !reflect.DeepEqual(whole, streamed) {
			t.Errorf("%s: %+v, streamed %+v", mode, whole, streamed)
		}
		if c := whole.Choices[1]; (c.Text != nil) != (mode == "text") || c.Text != nil && *c.Text != r.codec.Decode(c.IDs) || !slices.Equal(whole.PromptIDs, r.codec.Encode("One day")) {
			t.Errorf("%s: %+v", mode, whole)
		}
	}
}

// generatedStream puts the chunks of a call together, as a whole answer.
func (r *rig) generatedStream(body object) (all toldGenerated) {
	r.t.Helper()
	for _, data := range r.data(generatePath, body) {
		var chunk toldGenerated
		if err := json.Unmarshal(data, &chunk); err != nil {
			r.t.Fatalf("%v in %s", err, data)
		}
		all.RequestID, all.Model, all.Mode = chunk.RequestID, chunk.Model, chunk.Mode
		all.PromptIDs = slices.Concat(all.PromptIDs, chunk.PromptIDs)
		if chunk.Usage != nil {
			all.Usage = chunk.Usage
		}
		for _, c := range chunk.Choices {
			all.Choices = append(all.Choices, make([]toldSequence, max(0, c.Index+1-len(all.Choices)))...)
			to := &all.Choices[c.Index]
			if to.Finish != nil {
				r.t.Errorf("a chunk behind the end: %s", data)
			}
			to.Index, to.IDs, to.Finish, to.Stop, to.Versions = c.Index, slices.Concat(to.IDs, c.IDs), c.Finish, c.Stop, c.Versions
			if to.Text == nil {
				to.Text = c.Text
			} else {
				*to.Text += *c.Text
			}
			if to.Logprobs == nil {
				to.Logprobs = c.Logprobs
			} else {
				to.Logprobs.Content = append(to.Logprobs.Content, c.Logprobs.Content...)
			}
		}
	}
	return all
}

// The rank of a token is its place among those that were asked for.
func TestGenerateRanks(t *testing.T) {
	r := serveTiny(t, engine.Config{}, Options{})
	a := r.generated(object{"token_ids": []int32{5}, "sampling_params": object{"temperature": 2, "seed": 3, "max_tokens": 20, "logprobs": 5, "ignore_eos": true}})
	inside, outside := 0, 0
	for _, l := range a.Choices[0].Logprobs.Content {
		others := l.Top[1:]
		if l.Rank != nil {
			inside++
			others = slices.Insert(slices.Clone(others), *l.Rank-1, l.Top[0])
		} else {
			outside++
		}
		if len(others) != 5 || l.Top[0].ID != l.ID {
			t.Fatalf("%+v", l)
		}
		for i, o := range others {
			if *o.Rank != i+1 || i > 0 && o.Logprob > others[i-1].Logprob {
				t.Errorf("%+v", l)
			}
		}
	}
	if inside == 0 || outside == 0 {
		t.Errorf("%d among the likeliest, %d not: both must be seen", inside, outside)
	}
}

// Fields have vLLM's meaning and defaults.
func TestGenerateFields(t *testing.T) {
	r := serveTiny(t, engine.Config{}, Options{})
	ask := func(sampling object) toldSequence {
		return r.generated(object{"token_ids": []int32{5, 6}, "sampling_params": sampling}).Choices[0]
	}
	if one, two := ask(object{"max_tokens": 60, "ignore_eos": true}), ask(object{"max_tokens": 60, "ignore_eos": true}); slices.Equal(one.IDs, two.IDs) {
		t.Errorf("by default the temperature is 1, twice %v", one.IDs)
	}
	if one, two := ask(object{"max_tokens": 60, "ignore_eos": true, "seed": -1}), ask(object{"max_tokens": 60, "ignore_eos": true, "seed": -1}); slices.Equal(one.IDs, two.IDs) {
		t.Errorf("the seed -1 is none, twice %v", one.IDs)
	}
	if c := ask(object{"temperature": 0, "logit_bias": object{"300": 100}, "stop_token_ids": []int{300}}); !slices.Equal(c.IDs, []int32{300}) || *c.Finish != "stop" || c.Stop != 300.0 {
		t.Errorf("%+v", c)
	}
	if c := ask(object{"temperature": 0, "ignore_eos": true, "max_tokens": nil}); len(c.IDs) != r.engine.Info().MaxContext-2 {
		t.Errorf("without max_tokens %d tokens, the context has %d", len(c.IDs), r.engine.Info().MaxContext)
	}
}

// What cannot be done is refused by its name.
func TestGenerateRefuses(t *testing.T) {
	r := serveEcho(t, executor.EchoConfig{Blocks: 64}, engine.Config{}, Options{})
	for param, value := range map[string]string{
		"features": `{"mm_hashes":{}}`, "content_parts": `[{}]`, "kv_transfer_params": `{"a":1}`, "ec_transfer_params": `{"a":1}`, "output_mode": `"derender"`, "priority": `101`, "token_ids": `[]`,
	} {
		prompt := `"token_ids":[5],`
		if param == "token_ids" {
			prompt = ""
		}
		r.refused(generatePath, `{`+prompt+`"sampling_params":{"max_tokens":1},"`+param+`":`+value+`}`, 400, param, "invalid_value")
	}
	for param, value := range map[string]string{
		"prompt_logprobs": "1", "prompt_logprob_token_ids": "[[1]]", "logprob_token_ids": "[1]", "trace_decode_token_ids": "[1]", "repetition_detection": `{"a":1}`, "thinking_token_budget": "1",
		"skip_reading_prefix_cache": "true", "watermarking": "true", "max_tokens": "0",
	} {
		r.refused(generatePath, `{"token_ids":[5],"sampling_params":{"`+param+`":`+value+`}}`, 400, param, "invalid_value")
		if param != "max_tokens" {
			r.generated(`{"token_ids":[5],"sampling_params":{"max_tokens":1,"` + param + `":null}}`)
		}
	}
	r.refused(generatePath, `{"token_ids":[5],"output_mode":"text","sampling_params":{"skip_special_tokens":false}}`, 400, "skip_special_tokens", "invalid_value")
	r.refused(generatePath, `{"token_ids":[5],"sampling_params":{"temperature":"hot"}}`, 400, "sampling_params.temperature", "invalid_value")
	r.refused(generatePath, `{"token_ids":[5],"sampling_params":{"structured_outputs":{}}}`, 400, "sampling_params.structured_outputs", "invalid_value")
	r.refused(generatePath, `{"token_ids":[5],"sampling_params":{"structured_outputs":{"regex":"("}}}`, 400, "sampling_params.structured_outputs.regex", "bad_grammar")
	r.refused(generatePath, `{"token_ids":[5],"sampling_params":{"logprobs":21}}`, 400, "logprobs", "invalid_value")
	r.refused(generatePath, `{"token_ids":[99999],"sampling_params":{}}`, 400, "token_ids", "invalid_token_id")
	r.refused(generatePath, `{"token_ids":[5],"sampling_params":{},"model":"other"}`, 404, "model", "model_not_found")
	r.resting()
}

// Of lower priority values goes first who has the lowest, as vLLM has it.
func TestGeneratePriority(t *testing.T) {
	p := generateParams{IDs: []int32{1}, Priority: 7}
	if err := p.settle(); err != nil || *p.Sampling.Priority != -7 {
		t.Errorf("%v, %v", *p.Sampling.Priority, err)
	}
}
