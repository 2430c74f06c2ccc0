package server

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/executor"
)

// serveSlow serves an echo whose steps take a while, until it is hurried.
func serveSlow(t *testing.T) (r *rig, hurried *atomic.Bool) {
	hurried = new(atomic.Bool)
	return serveEcho(t, executor.EchoConfig{Blocks: 256, Delay: func(*executor.Batch) {
		if !hurried.Load() {
			time.Sleep(time.Millisecond)
		}
	}}, engine.Config{}, Options{}), hurried
}

// manyAsked is how many tokens asks asks for: far more than come before what a test does next.
const manyAsked = 1500

// asks begins a call of POST /generate for many tokens, whose answer comes.
func (r *rig) asks(body object) <-chan sglangTold {
	body["return_logprob"], body["sampling_params"] = true, object{"max_new_tokens": manyAsked, "ignore_eos": true, "temperature": 0}
	answer := make(chan sglangTold, 1)
	go func() {
		defer close(answer)
		var a sglangTold
		r.sglang(body, &a)
		answer <- a
	}()
	return answer
}

// generating waits until so many tokens more have come.
func (r *rig) generating(n int64) {
	r.t.Helper()
	want := r.engine.Metrics().GeneratedTokens + n
	r.until("tokens come", func() bool { return r.engine.Metrics().GeneratedTokens >= want })
}

// done sends what must be answered with 200.
func (r *rig) done(path string, body any) {
	r.t.Helper()
	if status, _, data := r.post(path, body); status != 200 {
		r.t.Fatalf("%s %v: %d %s", path, body, status, data)
	}
}

// A pause as AReaL and slime take it gives up what is open, which is answered with what it
// has, and lets wait what comes, without an error.
func TestSglangPauseAborts(t *testing.T) {
	r, hurried := serveSlow(t)
	first := r.asks(object{"input_ids": []int{5, 6}})
	r.generating(5)
	for range 2 {
		r.done("/pause_generation", object{})
	}
	a := <-first
	if m := a.Meta; m.Finish.Type != "abort" || m.Finish.Message == "" || strings.HasPrefix(m.Finish.Message, "Abort before prefill") || len(a.IDs) < 5 || len(m.Own) != len(a.IDs) || m.Completion != len(a.IDs) || m.Versions[0] != (weightSpan{"default", 0, len(a.IDs)}) {
		t.Errorf("%+v", a)
	}
	second := r.asks(object{"input_ids": []int{5, 6}})
	r.until("it waits", func() bool { return r.engine.Metrics().Open == 1 })
	if m := r.engine.Metrics(); m.Running != 0 {
		t.Errorf("%+v", m)
	}
	hurried.Store(true)
	for range 2 {
		r.done("/continue_generation", object{"torch_empty_cache": true})
	}
	if b := <-second; len(b.IDs) != manyAsked || !slices.Equal(b.IDs[:len(a.IDs)], a.IDs) {
		t.Errorf("%+v", b)
	}
	r.refused("/pause_generation", object{"mode": "keep"}, 400, "mode", "invalid_value")
	r.resting()
}

// In the other modes nothing is lost. With in_place the cache of what is open cannot be
// flushed, with retract it can.
func TestSglangPauseKeeps(t *testing.T) {
	r, hurried := serveSlow(t)
	hurried.Store(true)
	want := <-r.asks(object{"input_ids": []int{5, 6}})
	for mode, flushes := range map[string]int{"in_place": 400, "retract": 200} {
		hurried.Store(false)
		got := r.asks(object{"input_ids": []int{5, 6}, "cache_salt": mode})
		r.generating(5)
		r.done("/pause_generation", object{"mode": mode})
		if status := r.get("/flush_cache", new(any)); status != flushes {
			t.Errorf("%s: flushed with %d", mode, status)
		}
		hurried.Store(true)
		r.done("/continue_generation", object{})
		if a := <-got; !slices.Equal(a.IDs, want.IDs) || a.Meta.Finish.Type != "length" {
			t.Errorf("%s: %+v", mode, a)
		}
	}
	r.resting()
}

// flush_cache tells whether anything is open, and what was shared is not any more.
func TestSglangFlush(t *testing.T) {
	r, hurried := serveSlow(t)
	cached := func() int {
		var a sglangTold
		r.sglang(object{"input_ids": count(40), "sampling_params": object{"max_new_tokens": 1}}, &a)
		return a.Meta.Cached
	}
	if first, second := cached(), cached(); first != 0 || second == 0 {
		t.Fatalf("%d tokens cached, then %d", first, second)
	}
	if status := r.get("/flush_cache", new(any)); status != 200 {
		t.Errorf("%d", status)
	}
	if n := cached(); n != 0 {
		t.Errorf("flushed, and %d tokens are cached", n)
	}
	open := r.asks(object{"input_ids": []int{5, 6}})
	r.generating(5)
	if status := r.get("/flush_cache", new(any)); status != 400 {
		t.Errorf("with a request open: %d", status)
	}
	hurried.Store(true)
	r.done("/flush_cache?timeout=30", "")
	if a := <-open; a.Meta.Finish.Type != "length" {
		t.Errorf("%+v", a)
	}
	r.refused("/flush_cache?timeout=-1", "", 400, "timeout", "invalid_value")
}

// Requests are ended by their rid, or all, as slime does it until nothing is open.
func TestSglangAbort(t *testing.T) {
	r, _ := serveSlow(t)
	a, b := r.asks(object{"input_ids": []int{5, 6}, "rid": "one"}), r.asks(object{"input_ids": []int{7}, "rid": "two"})
	r.until("both run", func() bool { return r.engine.Metrics().Running == 2 })
	r.generating(4)
	for _, rid := range []string{"", "three", "one"} {
		r.done("/abort_request", object{"rid": rid})
	}
	if got := <-a; got.Meta.Finish.Type != "abort" || got.Meta.ID != "one" {
		t.Errorf("%+v", got)
	}
	r.done("/abort_request", object{"abort_all": true})
	if got := <-b; got.Meta.Finish.Type != "abort" || len(got.IDs) == 0 || len(got.IDs) != len(got.Meta.Own) {
		t.Errorf("%+v", got)
	}
	var l struct {
		Loads []struct {
			Running int `json:"num_running_reqs"`
			Waiting int `json:"num_waiting_reqs"`
			Used    int `json:"num_used_tokens"`
			Tokens  int `json:"max_total_num_tokens"`
		}
	}
	r.until("nothing is open", func() bool {
		return r.get("/v1/loads?include=core,disagg,queues", &l) == 200 && len(l.Loads) == 1 && l.Loads[0].Running+l.Loads[0].Waiting == 0
	})

	r.done("/pause_generation", object{"mode": "in_place"})
	c := r.asks(object{"input_ids": []int{5, 6}, "rid": "four"})
	r.opened(1)
	r.until("it waits, and nothing is used", func() bool {
		return r.get("/v1/loads", &l) == 200 && len(l.Loads) == 1 && l.Loads[0].Waiting == 1 && l.Loads[0].Used == 0
	})
	if l.Loads[0].Tokens != r.engine.Info().AllTokens() {
		t.Errorf("%+v", l)
	}
	r.done("/abort_request", object{"rid": "four"})
	if got := <-c; got.Meta.Finish.Type != "abort" || !strings.HasPrefix(got.Meta.Finish.Message, "Abort before prefill") || got.Meta.Own == nil || len(got.IDs) != 0 {
		t.Errorf("%+v", got)
	}
	r.done("/continue_generation", object{})
	r.resting()
}

// Memory is given back and taken again by SGLang's tags, in stages, with what is open kept.
func TestSglangMemory(t *testing.T) {
	r := serveTiny(t, engine.Config{NumBlocks: 64}, Options{})
	var want, got sglangTold
	body := object{"text": "Once upon", "sampling_params": object{"max_new_tokens": 8, "temperature": 0}}
	r.sglang(body, &want)
	r.done("/release_memory_occupation", object{})
	r.isSleeping(true, "kv_cache", "weights")
	answer := make(chan sglangTold, 1)
	go func() {
		defer close(answer)
		var a sglangTold
		r.sglang(body, &a)
		answer <- a
	}()
	r.done("/resume_memory_occupation", object{"tags": []string{"weights", "cuda_graph"}})
	r.isSleeping(true, "kv_cache", "weights")
	r.done("/resume_memory_occupation", object{"tags": []string{"kv_cache"}})
	r.isSleeping(false)
	if got = <-answer; !slices.Equal(got.IDs, want.IDs) {
		t.Errorf("%+v, want %+v", got, want)
	}
	r.refused("/release_memory_occupation", object{"tags": []string{"disk"}}, 400, "tags", "invalid_value")
}

// What SGLang's clients read before they begin.
func TestSglangInfo(t *testing.T) {
	r := serveTiny(t, engine.Config{NumBlocks: 64}, Options{Version: "cbactor 1"})
	for _, path := range []string{"/server_info", "/get_server_info"} {
		var i struct {
			TP      int    `json:"tp_size"`
			DP      int    `json:"dp_size"`
			Name    string `json:"served_model_name"`
			Context int    `json:"context_length"`
			Tokens  int    `json:"max_total_num_tokens"`
			VLLM    *struct {
				Parallel any `json:"parallel_config"`
			} `json:"vllm_config"`
		}
		if status := r.get(path, &i); status != 200 || i.TP != 1 || i.DP != 1 || i.Name != "tiny" || i.Context != r.engine.Info().MaxContext || i.Tokens != 64*r.engine.Info().PageSize || i.VLLM == nil || i.VLLM.Parallel == nil {
			t.Errorf("%s: %d %+v", path, status, i)
		}
	}
	for _, path := range []string{"/model_info", "/get_model_info", "/get_weight_version"} {
		var i struct {
			Version   string `json:"weight_version"`
			Path      string `json:"model_path"`
			Generates bool   `json:"is_generation"`
		}
		if status := r.get(path, &i); status != 200 || i.Version != engine.FirstVersion || path != "/get_weight_version" && (!i.Generates || i.Path != "tiny") {
			t.Errorf("%s: %d %+v", path, status, i)
		}
	}
	before := r.engine.Metrics().GeneratedTokens
	if status := r.get("/health_generate", new(any)); status != 200 || r.engine.Metrics().GeneratedTokens != before+1 {
		t.Errorf("%d, and %d tokens", status, r.engine.Metrics().GeneratedTokens-before)
	}
	r.done("/pause_generation", object{"mode": "in_place"})
	if status := r.get("/health_generate", new(any)); status != 200 {
		t.Errorf("paused: %d", status)
	}
	r.refused("/v1/loads?format=prometheus", "", 405, "", "method_not_allowed")
	if err := r.engine.Stop(t.Context(), engine.StopOptions{Keep: true, Hard: true}); err != nil {
		t.Fatal(err)
	}
	if status := r.get("/health_generate", new(any)); status != 503 {
		t.Errorf("stopped: %d", status)
	}
}

// An engine that is busy is well while its steps advance.
func TestHealthOfABusyEngine(t *testing.T) {
	gate := make(chan struct{})
	r := serveEcho(t, executor.EchoConfig{Blocks: 64, Delay: func(*executor.Batch) { <-gate }}, engine.Config{}, Options{})
	answer := r.background(completionsPath, object{"prompt": "a", "max_tokens": 3, "ignore_eos": true})
	r.until("a step begins", func() bool { return r.engine.Metrics().Running == 1 })
	health := func(ctx context.Context) int {
		w := deadlined{httptest.NewRecorder()}
		r.server.Handler().ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/health_generate", nil))
		return w.Code
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if got := health(ctx); got != http.StatusServiceUnavailable {
		t.Errorf("a step that does not end: %d", got)
	}
	busy := make(chan int, 1)
	go func() { busy <- health(t.Context()) }()
	close(gate)
	if got := <-busy; got != http.StatusOK {
		t.Errorf("steps end: %d", got)
	}
	<-answer
}
