package server

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/sampling"
)

const sglangPath = "/generate"

// sglangTold is an answer of POST /generate.
type sglangTold struct {
	Text      string
	IDs       []int32 `json:"output_ids"`
	PromptIDs []int32 `json:"prompt_token_ids"`
	Index     *int
	Meta      struct {
		ID     string
		Finish *struct {
			Type    string
			Matched any
			Length  int
			Message string
		} `json:"finish_reason"`
		Prompt     int          `json:"prompt_tokens"`
		Completion int          `json:"completion_tokens"`
		Cached     int          `json:"cached_tokens"`
		Seconds    float64      `json:"e2e_latency"`
		Version    string       `json:"weight_version"`
		Versions   []weightSpan `json:"weight_versions"`
		Weights    *weightsTold `json:"x_weights"`
		Own        [][3]any     `json:"output_token_logprobs"`
		Top        [][][3]any   `json:"output_top_logprobs"`
		PromptOwn  [][3]any     `json:"input_token_logprobs"`
		PromptTop  [][][3]any   `json:"input_top_logprobs"`
		Processed  []float64    `json:"output_token_sampling_logprobs"`
	} `json:"meta_info"`
	Error *toldError
}

// sglang sends a body to POST /generate, into one answer or a list of them.
func (r *rig) sglang(body, into any) {
	r.t.Helper()
	status, _, data := r.post(sglangPath, body)
	if status != 200 {
		r.t.Fatalf("%v: %d %s", body, status, data)
	}
	if err := json.Unmarshal(data, into); err != nil {
		r.t.Fatalf("%v in %s", err, data)
	}
}

// sglangEvents are those of a stream, which ends with [DONE].
func (r *rig) sglangEvents(body object) (list []sglangTold) {
	r.t.Helper()
	body["stream"] = true
	resp := r.open(r.t.Context(), sglangPath, body)
	defer drop(r.t, resp)
	done := false
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		data, found := strings.CutPrefix(lines.Text(), "data: ")
		switch {
		case !found:
		case data == "[DONE]":
			done = true
		default:
			var e sglangTold
			if err := json.Unmarshal([]byte(data), &e); err != nil || done {
				r.t.Fatalf("%q: %v", data, err)
			}
			list = append(list, e)
		}
	}
	if !done {
		r.t.Fatal("the stream ends without [DONE]")
	}
	return list
}

// What AReaL sends is answered with what it reads: the ids and log-probabilities of the
// tokens, which are those of our own routes.
func TestSglangAsAReaLAsks(t *testing.T) {
	r := serveTiny(t, engine.Config{NumBlocks: 64}, Options{})
	prompt := r.codec.Encode("Once upon a time")
	var a sglangTold
	r.sglang(object{"input_ids": prompt, "image_data": nil, "return_logprob": true, "stream": false, "sampling_params": object{
		"top_p": 1.0, "top_k": 100000000, "max_new_tokens": 6, "temperature": 0.0, "stop_token_ids": []int{}, "ignore_eos": false,
		"skip_special_tokens": true, "frequency_penalty": 0.0, "stop": []string{"never"},
	}}, &a)
	ours := r.ask(completionsPath, object{"prompt": prompt, "max_tokens": 6, "temperature": 0, "logprobs": 0, "return_token_ids": true}).Choices[0]
	if m := a.Meta; !slices.Equal(a.IDs, ours.IDs) || a.Text != ours.Text || m.Finish.Type != "length" || m.Finish.Length != 6 || m.Prompt != len(prompt) || m.Completion != 6 || m.Version != engine.FirstVersion {
		t.Errorf("%+v, want %+v", a, ours)
	}
	for i, l := range a.Meta.Own {
		if int32(l[1].(float64)) != a.IDs[i] || l[0].(float64) != *ours.Logprobs.Own[i] || l[2] != nil {
			t.Errorf("token %d: %v, want %v", i, l, *ours.Logprobs.Own[i])
		}
	}
	if len(a.Meta.Own) != 6 || a.Meta.Top != nil || a.Meta.PromptOwn != nil {
		t.Errorf("%+v", a.Meta)
	}
}

// What AReaL sends to have the last tokens of a text scored: all it reads are numbers.
func TestSglangScores(t *testing.T) {
	r := serveTiny(t, engine.Config{NumBlocks: 64}, Options{})
	ids := r.codec.Encode("Once upon a time, there was")
	echo := r.ask(completionsPath, object{"prompt": ids, "max_tokens": 0, "echo": true, "logprobs": 0}).Choices[0].Logprobs.Own
	for target := 1; target < len(ids); target++ {
		var a sglangTold
		from := max(0, len(ids)-target-1)
		r.sglang(object{"input_ids": ids, "return_logprob": true, "logprob_start_len": from, "top_logprobs_num": 0, "stream": false,
			"sampling_params": object{"max_new_tokens": 1, "temperature": 0.0}}, &a)
		if len(a.Meta.PromptOwn) != target+1 || len(a.IDs) != 1 || a.Meta.PromptTop != nil {
			t.Fatalf("%d: %+v", target, a.Meta)
		}
		for i, l := range a.Meta.PromptOwn {
			if at := from + i; int32(l[1].(float64)) != ids[at] || at > 0 && l[0].(float64) != *echo[at] || at == 0 && l[0] != nil {
				t.Errorf("%d, place %d: %v, want %v", target, at, l, echo[at])
			}
		}
	}
	var a sglangTold
	r.sglang(object{"input_ids": ids, "return_logprob": true, "logprob_start_len": len(ids), "top_logprobs_num": 2, "sampling_params": object{"max_new_tokens": 0}}, &a)
	if len(a.Meta.PromptOwn) != 0 || len(a.IDs) != 0 || a.Meta.Finish.Type != "length" {
		t.Errorf("%+v", a)
	}
}

// A stream tells all so far with every event, and at its end what the whole answer tells.
func TestSglangStream(t *testing.T) {
	r := serveTiny(t, engine.Config{NumBlocks: 64}, Options{})
	for _, special := range []bool{false, true} {
		body := object{"text": []string{"Once upon", "One day"}, "rid": []string{"a", "b"}, "return_logprob": true, "top_logprobs_num": []int{0, 2}, "return_text_in_logprobs": true,
			"return_prompt_token_ids": true, "sampling_params": object{"n": 2, "sampling_seed": 3, "max_new_tokens": 9, "ignore_eos": true, "skip_special_tokens": !special}}
		var whole []sglangTold
		r.sglang(body, &whole)
		last := make([]sglangTold, 4)
		for _, e := range r.sglangEvents(body) {
			before := last[*e.Index]
			if n := len(before.IDs); !slices.Equal(e.IDs[:n], before.IDs) || !strings.HasPrefix(e.Text, before.Text) || n > 0 && !reflect.DeepEqual(e.Meta.Own[:n], before.Meta.Own) || len(e.Meta.Own) != len(e.IDs) || before.Meta.Finish != nil {
				t.Errorf("%+v after %+v", e, before)
			}
			last[*e.Index] = e
		}
		for i, e := range last {
			e.Index = nil
			e.Meta.Seconds, whole[i].Meta.Seconds = 0, 0
			if !reflect.DeepEqual(e, whole[i]) {
				t.Errorf("%+v, whole %+v", e, whole[i])
			}
			if e.Meta.ID != []string{"a", "a/1", "b", "b/1"}[i] || (e.Meta.Top != nil) != (i > 1) || e.Meta.Own[0][2] == nil || len(e.PromptIDs) != e.Meta.Prompt {
				t.Errorf("%d: %+v", i, e)
			}
		}
	}
}

// Each prompt of a list may have its own parameters, and has its answer in its place.
func TestSglangLists(t *testing.T) {
	r := serveTiny(t, engine.Config{NumBlocks: 64}, Options{})
	var list []sglangTold
	r.sglang(object{"input_ids": [][]int{{5, 6}, {7, 8, 9}}, "rid": "job", "sampling_params": []object{{"max_new_tokens": 2, "ignore_eos": true}, {"max_new_tokens": 3, "ignore_eos": true}},
		"return_logprob": []bool{false, true}, "lora_path": nil, "cache_salt": []any{"x", nil}, "extra_key": "y"}, &list)
	if len(list) != 2 || len(list[0].IDs) != 2 || len(list[1].IDs) != 3 || list[0].Meta.Own != nil || len(list[1].Meta.Own) != 3 || list[0].Meta.ID != "job_0" || list[1].Meta.ID != "job_1" || list[1].Meta.Prompt != 3 {
		t.Errorf("%+v", list)
	}
	r.sglang(object{"input_ids": [][]int{{5}}}, &list)
	if len(list) != 1 {
		t.Errorf("a list of one is answered with %+v", list)
	}
	for name, body := range map[string]object{
		"sampling_params": {"text": []string{"a", "b"}, "sampling_params": []object{{}}},
		"rid":             {"text": []string{"a", "b"}, "rid": []string{"x"}},
		"return_logprob":  {"text": "a", "return_logprob": []bool{true, true}},
	} {
		r.refused(sglangPath, body, 400, name, "invalid_value")
	}
	r.refused(sglangPath, object{"text": []string{"a", "b"}, "sampling_params": []object{{"n": 1}, {"n": 2}}}, 400, "sampling_params", "invalid_value")
	r.refused(sglangPath, object{"text": []string{"a", "b"}, "rid": []string{"x", "x"}}, 409, "", "duplicate_request_id")
	r.resting()
}

// What is left out has no effect: the recommendations of the model's authors least of all.
func TestSglangDefaults(t *testing.T) {
	r := serveEcho(t, executor.EchoConfig{Blocks: 64}, engine.Config{}, Options{})
	r.server.models[0].Defaults = &sampling.Params{Temperature: 0.1, TopK: 1}
	var a, b sglangTold
	r.sglang(object{"input_ids": []int{5, 6}, "sampling_params": object{"ignore_eos": true, "sampling_seed": 9}}, &a)
	r.sglang(object{"input_ids": []int{5, 6}, "sampling_params": object{"ignore_eos": true, "sampling_seed": 9, "temperature": 1, "top_k": -1, "top_p": 1, "max_new_tokens": 128}}, &b)
	if len(a.IDs) != 128 || !slices.Equal(a.IDs, b.IDs) {
		t.Errorf("%v, with SGLang's defaults %v", a.IDs, b.IDs)
	}
	r.sglang(`{"input_ids":[5,6],"sampling_params":{"max_new_tokens":null,"ignore_eos":true,"stop_token_ids":[null],"temperature":null}}`, &a)
	if n := r.engine.Info().MaxContext - 2; len(a.IDs) != n {
		t.Errorf("without a limit %d tokens, want %d", len(a.IDs), n)
	}
}

// Log-probabilities are those of the logits over the temperature, as trainers compute them.
func TestSglangTemperature(t *testing.T) {
	r := serveTiny(t, engine.Config{NumBlocks: 64}, Options{})
	prompt := r.codec.Encode("Once upon a time")
	hold, err := r.engine.Pause(t.Context(), engine.PauseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	logits, err := hold.Logits(t.Context(), prompt)
	if err != nil {
		t.Fatal(err)
	}
	if err := hold.Release(""); err != nil {
		t.Fatal(err)
	}
	for _, temperature := range []float64{1, 0.5, 1.7} {
		var a sglangTold
		r.sglang(object{"input_ids": prompt, "return_logprob": true, "top_logprobs_num": 3, "sampling_params": object{"temperature": temperature, "max_new_tokens": 1}}, &a)
		sum := 0.0
		for _, l := range logits {
			sum += math.Exp(float64(l) / temperature)
		}
		for _, l := range slices.Concat(a.Meta.Own, a.Meta.Top[0]) {
			want := float64(logits[int(l[1].(float64))])/temperature - math.Log(sum)
			if got := l[0].(float64); math.Abs(got-want) > 1e-4 {
				t.Errorf("temperature %v, token %v: %v, want %v", temperature, l[1], got, want)
			}
		}
	}
}

// What slime sends: text with its special tokens, and the end kept, or cut off by SGLang's
// default.
func TestSglangSpecialTokens(t *testing.T) {
	end := int32(0)
	for name, c := range map[string]struct {
		script []int32
		params object
		text   string
		why    any
	}{
		"end kept":         {[]int32{327, 329, end}, object{"skip_special_tokens": false, "no_stop_trim": true, "spaces_between_special_tokens": false}, "Once upon<|endoftext|>", 0.0},
		"end cut":          {[]int32{327, 329, end}, object{"skip_special_tokens": false}, "Once upon", 0.0},
		"end hidden":       {[]int32{327, 329, end}, object{"no_stop_trim": true}, "Once upon", 0.0},
		"in the middle":    {[]int32{327, end, 329}, object{"skip_special_tokens": false, "ignore_eos": true, "max_new_tokens": 3}, "Once<|endoftext|> upon", nil},
		"stop cut":         {[]int32{327, end, 329}, object{"skip_special_tokens": false, "ignore_eos": true, "stop": " up"}, "Once<|endoftext|>", " up"},
		"stop kept":        {[]int32{327, end, 329}, object{"skip_special_tokens": false, "ignore_eos": true, "stop": []string{" up"}, "no_stop_trim": true}, "Once<|endoftext|> up", " up"},
		"stop id":          {[]int32{327, 329, 301}, object{"stop_token_ids": []int{301}}, "Once upon", 301.0},
		"stop, no special": {[]int32{327, 329, 301}, object{"stop": []string{"pon"}}, "Once u", "pon"},
	} {
		r := serveEcho(t, executor.EchoConfig{Blocks: 64}, engine.Config{}, Options{}, c.script...)
		body := object{"text": "a", "sampling_params": c.params, "return_logprob": true}
		var a sglangTold
		r.sglang(body, &a)
		if a.Text != c.text || !reflect.DeepEqual(a.Meta.Finish.Matched, c.why) || len(a.Meta.Own) != len(a.IDs) {
			t.Errorf("%s: %q, %+v, want %q, %v", name, a.Text, *a.Meta.Finish, c.text, c.why)
		}
		events := r.sglangEvents(body)
		if last := events[len(events)-1]; last.Text != c.text {
			t.Errorf("%s: streamed %q, want %q", name, last.Text, c.text)
		}
	}
}

// Every token says which weights sampled it, while it streams and at the end, also where the
// request was given up.
func TestSglangVersions(t *testing.T) {
	t.Parallel()
	c := serveChanging(t)
	serves, updates := engine.FirstVersion, 0
	for _, stream := range []bool{false, true} {
		for _, policy := range []string{"", "abort"} {
			updates++
			next := fmt.Sprintf("v%d", updates)
			_, data := c.changed(sglangPath, object{"text": "Once upon a time", "stream": stream, "kv_policy": policy, "processed_logprobs": true,
				"sampling_params": object{"max_new_tokens": 200, "ignore_eos": true, "sampling_seed": 2}}, engine.KVRecompute, next)
			list := [][]byte{data}
			if stream {
				list = pieces(data)
			}
			want := []string{serves, next}
			if policy == "abort" {
				want = want[:1]
			}
			var a sglangTold
			for _, one := range list {
				a = sglangTold{}
				if err := json.Unmarshal(one, &a); err != nil {
					t.Fatalf("%v in %s", err, one)
				}
				if m := a.Meta; !covers(m.Versions, len(a.IDs)) || m.Version != m.Versions[len(m.Versions)-1].Version || len(m.Processed) != len(a.IDs) || m.Own != nil {
					t.Errorf("%+v", a)
				}
			}
			if w := a.Meta.Weights; w == nil || !slices.Equal(w.Spans, a.Meta.Versions) || !slices.Equal(versionsOf(w.Spans), want) || len(w.KV) != 1 || (a.Meta.Finish.Type == "abort") != (policy == "abort") {
				t.Errorf("stream %t, policy %q: %+v by %+v, want %v", stream, policy, a.Meta.Finish, w, want)
			}
			serves = next
		}
	}
}

// What would change an answer and cannot be had is refused by name; what asks for nothing is
// not.
func TestSglangRefuses(t *testing.T) {
	r := serveEcho(t, executor.EchoConfig{Blocks: 64}, engine.Config{}, Options{})
	for name := range sglangRefused {
		r.refused(sglangPath, object{"input_ids": []int{5}, name: []int{1}}, 400, name, "invalid_value")
	}
	for name := range sglangSamplingRefused {
		r.refused(sglangPath, object{"input_ids": []int{5}, "sampling_params": object{name: 2}}, 400, "sampling_params."+name, "invalid_value")
	}
	for body, param := range map[string]string{
		`{}`: "text", `{"text":null}`: "text", `{"text":[]}`: "text", `{"text":["a",null]}`: "text", `{"text":5}`: "text", `{"text":"a","input_ids":[1]}`: "input_ids",
		`{"input_ids":"a"}`: "input_ids", `{"input_ids":[1.5]}`: "input_ids", `{"input_ids":[[1],2]}`: "input_ids", `{"input_ids":[[1],["a"]]}`: "input_ids", `{"input_ids":{}}`: "input_ids",
		`{"text":"a","sampling_params":[[]]}`: "sampling_params.0", `{"text":"a","sampling_params":{"temperature":-1}}`: "sampling_params.temperature", `{"text":"a","sampling_params":{"top_p":0}}`: "sampling_params.top_p",
		`{"text":"a","sampling_params":{"max_new_tokens":-1}}`: "sampling_params.max_new_tokens", `{"text":"a","sampling_params":{"max_new_tokens":2,"min_new_tokens":3}}`: "sampling_params.max_new_tokens",
		`{"text":"a","sampling_params":{"min_new_tokens":-1}}`: "sampling_params.min_new_tokens", `{"text":"a","sampling_params":{"regex":"a","json_schema":"{}"}}`: "sampling_params.regex",
		`{"text":"a","sampling_params":{"n":0}}`: "sampling_params.n", `{"text":"a","sampling_params":{"stop":[1]}}`: "sampling_params.stop.0",
		`{"text":"a","return_logprob":true,"top_logprobs_num":21}`: "top_logprobs_num", `{"text":"a","return_logprob":true,"logprob_start_len":-2}`: "logprob_start_len",
		`{"text":"a","return_logprob":true,"logprob_start_len":99}`: "logprob_start_len", `{"text":"a","return_logprob":true,"logprob_start_len":0,"stream":true}`: "logprob_start_len",
		`{"text":"a","kv_policy":"lose"}`: "kv_policy", `{"text":"a","priority":101}`: "priority", `{"text":"a","rid":"` + strings.Repeat("x", 129) + `"}`: "rid",
	} {
		r.refused(sglangPath, body, 400, param, "invalid_value")
	}
	r.refused(sglangPath, `{"input_ids":[]}`, 400, "input_ids", "empty_prompt")
	r.refused(sglangPath, `{"input_ids":[5],"model":"other"}`, 404, "model", "model_not_found")
	r.refused(sglangPath, `{"input_ids":[5],"lora_path":"other"}`, 404, "", "adapter_not_found")
	var a sglangTold
	r.sglang(`{"input_ids":[5],"image_data":[],"session_params":null,"return_hidden_states":false,"token_ids_logprob":null,"log_metrics":true,"routing_key":"x","conversation_id":"y",
		"sampling_params":{"ebnf":null,"stop_regex":"","beam_width":null,"custom_params":{"return_top_p_token_ids":true},"max_new_tokens":1}}`, &a)
	r.resting()
}

// Caches are apart by cache_salt, by extra_key, and by users where the server shall.
func TestSglangSalt(t *testing.T) {
	for _, byUser := range []bool{false, true} {
		r := serveEcho(t, executor.EchoConfig{Blocks: 128}, engine.Config{}, Options{SaltByUser: byUser})
		ofUser := 32 // cached, of others
		if byUser {
			ofUser = 0
		}
		for _, c := range []struct {
			key, v string
			want   int
		}{{"rid", "x", 0}, {"extra_key", "a", 0}, {"extra_key", "b", 0}, {"cache_salt", "a", 0}, {"extra_key", "a", 32}, {"cache_salt", "a", 32}, {"user", "a", ofUser}, {"user", "a", 32}, {"user", "b", ofUser}} {
			var a sglangTold
			r.sglang(object{"input_ids": count(40), "sampling_params": object{"max_new_tokens": 1}, c.key: c.v}, &a)
			if a.Meta.Cached != c.want {
				t.Errorf("by user %t, %s %s: %d cached, want %d", byUser, c.key, c.v, a.Meta.Cached, c.want)
			}
		}
	}
}
