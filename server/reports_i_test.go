package server

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/executor"
)

// What went wrong elsewhere, as tests with the numbers of the reports: HTTP.

const (
	completionsPath = "/v1/completions"
	chatPath        = "/v1/chat/completions"
)

// count is n ids.
func count(n int) []int32 {
	ids := make([]int32, n)
	for i := range ids {
		ids[i] = int32(i%1000 + 5)
	}
	return ids
}

func say(s string) []object { return []object{{"role": "user", "content": s}} }

// I1: a prompt without tokens is refused, and nobody else suffers.
func TestReportI1EmptyPrompt(t *testing.T) {
	r := serveEcho(t, executor.EchoConfig{}, engine.Config{}, Options{})
	for body, code := range map[string]string{
		`{"prompt":[]}`: "empty_prompt", `{"prompt":null}`: "invalid_value", `{}`: "invalid_value",
		`{"prompt":[[]]}`: "empty_prompt", `{"prompt":[2048]}`: "invalid_token_id", `{"prompt":[-1]}`: "invalid_token_id",
		`{"prompt":[[1],[2048]]}`: "invalid_token_id", `{"prompt":[1.5]}`: "invalid_value", `{"prompt":["a",1]}`: "invalid_value",
		`{"prompt":[[1],"a"]}`: "invalid_value", `{"prompt":{}}`: "invalid_value", `{"prompt":5}`: "invalid_value", `{"prompt":[99999999999]}`: "invalid_value",
	} {
		r.refused(completionsPath, body, 400, "prompt", code)
	}
	for body, param := range map[string]string{`{"messages":[]}`: "messages", `{}`: "messages", `{"messages":null}`: "messages", `{"messages":[{"content":"a"}]}`: "messages.0"} {
		r.refused(chatPath, body, 400, param, "invalid_value")
	}
	for _, prompt := range []any{"", []string{""}} { // the model's tokenizer has a start token
		if a := r.ask(completionsPath, object{"prompt": prompt, "max_tokens": 1}); a.Usage.Prompt != 1 {
			t.Errorf("%q has %d tokens", prompt, a.Usage.Prompt)
		}
	}
}

// I2: max_tokens is what it says.
func TestReportI2MaxTokens(t *testing.T) {
	r := serveEcho(t, executor.EchoConfig{Blocks: 64}, engine.Config{}, Options{})
	before := r.engine.Metrics().GeneratedTokens
	a := r.ask(completionsPath, object{"prompt": "Once upon", "max_tokens": 0, "echo": true})
	if c := a.Choices[0]; c.Text != "Once upon" || c.FinishReason != "length" || a.Usage.Completion != 0 || r.engine.Metrics().GeneratedTokens != before {
		t.Errorf("%+v %+v", c, a.Usage)
	}
	for k := 1; k <= 3; k++ {
		for path, body := range map[string]object{
			completionsPath: {"prompt": "a", "max_tokens": k, "ignore_eos": true},
			chatPath:        {"messages": say("a"), "max_completion_tokens": k, "max_tokens": k, "ignore_eos": true},
		} {
			if a := r.ask(path, body); a.Usage.Completion != k || a.Choices[0].FinishReason != "length" {
				t.Errorf("%v: %+v", body, a)
			}
		}
	}
	if a := r.ask(completionsPath, `{"prompt":"a","max_tokens":null,"ignore_eos":true}`); a.Usage.Completion != 16 {
		t.Errorf("by default %d tokens", a.Usage.Completion)
	}
	for _, v := range []string{"-1", "1.5", `"5"`, "2147483648", "1e999", "[]"} {
		r.refused(completionsPath, `{"prompt":"a","max_tokens":`+v+`}`, 400, "max_tokens", "invalid_value")
	}
	r.refused(chatPath, object{"messages": say("a"), "max_tokens": 0}, 400, "max_tokens", "invalid_value")
	r.refused(chatPath, object{"messages": say("a"), "max_completion_tokens": 0}, 400, "max_completion_tokens", "invalid_value")
	r.refused(chatPath, object{"messages": say("a"), "max_tokens": 5, "max_completion_tokens": 6}, 400, "max_completion_tokens", "invalid_value")
}

// I3: a prompt that is too long is refused, never cut; max_tokens is.
func TestReportI3TooLong(t *testing.T) {
	r := serveEcho(t, executor.EchoConfig{Blocks: 64, Context: 128}, engine.Config{}, Options{})
	for _, stream := range []bool{false, true} {
		for _, p := range []int{128, 129} {
			message := r.refused(completionsPath, object{"prompt": count(p), "stream": stream}, 400, "prompt", "context_length_exceeded")
			for _, n := range []string{"128", map[int]string{128: "128", 129: "129"}[p]} {
				if !strings.Contains(message, n) {
					t.Errorf("%q does not tell of %s", message, n)
				}
			}
		}
	}
	r.refused(chatPath, object{"messages": say(strings.Repeat("x y ", 200))}, 400, "messages", "context_length_exceeded")
	for _, c := range []struct{ prompt, ask, want int }{{127, 16, 1}, {100, 29, 28}} {
		a := r.ask(completionsPath, object{"prompt": count(c.prompt), "max_tokens": c.ask, "ignore_eos": true})
		if a.Usage.Prompt != c.prompt || a.Usage.Completion != c.want || a.Choices[0].FinishReason != "length" {
			t.Errorf("%+v: %+v", c, a.Usage)
		}
	}
}

// I4: usage counts ids, each prompt once, and streams tell of it at the end alone.
func TestReportI4Usage(t *testing.T) {
	r := serveEcho(t, executor.EchoConfig{Blocks: 64}, engine.Config{}, Options{})
	for _, c := range []struct {
		prompt any
		n      int
		want   toldUsage
	}{
		{count(7), 2, toldUsage{Prompt: 7, Completion: 10, Total: 17}},
		{[][]int32{count(7), count(3)}, 1, toldUsage{Prompt: 10, Completion: 10, Total: 20}},
	} {
		body := object{"prompt": c.prompt, "n": c.n, "max_tokens": 5, "ignore_eos": true}
		if a := r.ask(completionsPath, body); *a.Usage != c.want || len(a.Choices) != 2 || a.Choices[1].Index != 1 {
			t.Errorf("%v: %+v", body, a)
		}
		body["stream_options"] = object{"include_usage": true}
		events := r.events(completionsPath, body)
		for i, e := range events {
			if last := i == len(events)-1; last != (e.Usage != nil) || last != (len(e.Choices) == 0) || e.ID != events[0].ID || e.Created != events[0].Created {
				t.Errorf("event %d of %d: %+v", i, len(events), e)
			}
		}
		if got := events[len(events)-1].Usage; got == nil || *got != c.want {
			t.Errorf("streamed: %+v", got)
		}
	}
	for _, options := range []string{`{}`, `{"include_usage":false}`, `null`} {
		_, _, data := r.post(completionsPath, `{"prompt":"a","stream":true,"stream_options":`+options+`}`)
		if strings.Contains(string(data), "usage") {
			t.Errorf("with %s: %s", options, data)
		}
	}
	_, _, data := r.post(completionsPath, `{"prompt":"a","stream":true,"stream_options":{"include_usage":true}}`)
	if lines := strings.Split(string(data), "\n\n"); !strings.Contains(lines[0], `"usage":null`) {
		t.Errorf("the first event is %s", lines[0])
	}
	r.refused(completionsPath, object{"prompt": "a", "stream_options": object{"include_usage": true}}, 400, "stream_options", "invalid_value")
}

// I6: every error has OpenAI's shape and the right status.
func TestReportI6Errors(t *testing.T) {
	r := serveEcho(t, executor.EchoConfig{}, engine.Config{}, Options{Limits: Limits{Body: 1000}})
	for _, body := range []string{"", "{", "nonsense", `{"prompt":"a"} x`, `{"prompt":"a"}{}`, `[]`, `"a"`, `{"prompt":"a","prompt":"b"}`,
		"{\"prompt\":\"\xff\"}", `{"prompt":"\ud800"}`} {
		r.refused(completionsPath, body, 400, "", "invalid_json")
	}
	for param, body := range map[string]string{
		"temperature": `{"prompt":"a","temperature":"hot"}`, "n": `{"prompt":"a","n":true}`, "stream": `{"prompt":"a","stream":"yes"}`,
		"stop": `{"prompt":"a","stop":["a",5]}`, "logit_bias.5": `{"prompt":"a","logit_bias":{"5":"x"}}`, "user": `{"prompt":"a","user":5}`,
		"stream_options": `{"prompt":"a","stream_options":[]}`, "seed": `{"prompt":"a","seed":1.5}`, "best_of": `{"prompt":"a","best_of":3}`, "suffix": `{"prompt":"a","suffix":"z"}`,
	} {
		r.refused(completionsPath, body, 400, param, "invalid_value")
	}
	for param, body := range map[string]string{
		"messages.0.content": `{"messages":[{"role":"user","content":[{"type":"image_url"}]}]}`, "messages": `{"messages":"a"}`,
		"response_format": `{"messages":[{"role":"user","content":"a"}],"response_format":{"type":"nonsense"}}`,
		"top_logprobs":    `{"messages":[{"role":"user","content":"a"}],"top_logprobs":3}`,
	} {
		r.refused(chatPath, body, 400, param, "invalid_value")
	}
	r.refused(completionsPath, object{"prompt": "a", "model": "nobody"}, 404, "model", "model_not_found")
	r.refused("/v1/nowhere", object{}, 404, "", "unknown_route")
	r.refused("/v1/models", object{}, 405, "", "method_not_allowed")
	r.refused(completionsPath, object{"prompt": strings.Repeat("a", 1000)}, 413, "", "body_too_large")

	// Another key than asked for by its case is one that nobody knows.
	r.refused(completionsPath, `{"PROMPT":"a"}`, 400, "prompt", "invalid_value")
	if a := r.ask(completionsPath, `{"prompt":"a","MAX_TOKENS":"x","max_tokens":1,"nobody":{"knows":[1]},"ignore_eos":true}`); a.Usage.Completion != 1 {
		t.Errorf("%+v", a.Usage)
	}
	req := r.request(t.Context(), completionsPath, object{"prompt": "a"})
	req.Header.Set("Content-Type", "text/plain")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if drop(t, resp); resp.StatusCode != 415 {
		t.Errorf("text is answered with %d", resp.StatusCode)
	}
}

// I6: a request whose id another open one has is refused, and the other one goes on; a full
// queue is refused for now; so are new calls while a pause refuses them.
func TestReportI6Now(t *testing.T) {
	gate := make(chan struct{})
	r := serveEcho(t, executor.EchoConfig{Blocks: 64, Delay: func(*executor.Batch) { <-gate }}, engine.Config{MaxQueueSize: 2}, Options{})
	named := func(id string) *http.Request {
		req := r.request(t.Context(), completionsPath, object{"prompt": count(3), "max_tokens": 3, "stream": true, "ignore_eos": true, "return_token_ids": true})
		req.Header.Set("X-Request-Id", id)
		return req
	}
	first, err := http.DefaultClient.Do(named("mine"))
	if err != nil {
		t.Fatal(err)
	}
	defer drop(t, first)
	if got := first.Header.Get("X-Request-Id"); got != "mine" {
		t.Errorf("X-Request-Id %q", got)
	}
	for id, want := range map[string]int{"mine": 409, "a/b": 400, strings.Repeat("a", 129): 400} {
		second, err := http.DefaultClient.Do(named(id))
		if err != nil {
			t.Fatal(err)
		}
		if drop(t, second); second.StatusCode != want {
			t.Errorf("%.20q: %d, want %d", id, second.StatusCode, want)
		}
	}
	other, err := http.DefaultClient.Do(named("other"))
	if err != nil {
		t.Fatal(err)
	}
	defer drop(t, other)
	r.refused(completionsPath, object{"prompt": "a"}, 429, "", "queue_full")
	r.refused(completionsPath, object{"prompt": "a", "n": 3}, 400, "prompt", "invalid_value") // can never be
	close(gate)
	r.resting()
	hold, err := r.engine.Pause(t.Context(), engine.PauseOptions{Refuse: true})
	if err != nil {
		t.Fatal(err)
	}
	r.refused(completionsPath, object{"prompt": "a"}, 503, "", "engine_paused")
	if err := hold.Release(""); err != nil {
		t.Fatal(err)
	}
	want := executor.EchoRef(count(3), 3, 2048, 1)
	if a := r.ask(completionsPath, object{"prompt": count(3), "max_tokens": 3, "ignore_eos": true, "return_token_ids": true}); !slices.Equal(a.Choices[0].IDs, want) {
		t.Errorf("%v, want %v", a.Choices[0].IDs, want)
	}
}
