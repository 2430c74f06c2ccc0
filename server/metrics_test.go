package server

import (
	"context"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/texts"
	"github.com/cbactor/cbactor/executor"
)

// scrape is what Prometheus reads: values by series, as they are written.
func (r *rig) scrape() map[string]float64 {
	r.t.Helper()
	resp, err := http.Get(r.url + metricsPath)
	if err != nil {
		r.t.Fatal(err)
	}
	defer drop(r.t, resp)
	data, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != 200 || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/plain; version=0.0.4") {
		r.t.Fatalf("%d %s %v: %s", resp.StatusCode, resp.Header.Get("Content-Type"), err, data)
	}
	series := map[string]float64{}
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		at := strings.LastIndexByte(line, ' ')
		v, err := strconv.ParseFloat(strings.TrimSpace(line[at+1:]), 64)
		if err != nil {
			r.t.Fatalf("%v in %q", err, line)
		}
		series[line[:at]] = v
	}
	return series
}

// Scrapes are counted as what they were answered with.
func TestMetricsCountThemselves(t *testing.T) {
	r := serveEcho(t, executor.EchoConfig{}, engine.Config{}, Options{})
	r.scrape()
	r.until("it is counted", func() bool { return r.scrape()[`cbactor_http_requests_total{route="/metrics",status="200"}`] > 0 })
	if n := r.scrape()[`cbactor_http_requests_total{route="/metrics",status="0"}`]; n > 0 {
		t.Errorf("%g of them have no status", n)
	}
}

// What is counted is what was asked for and answered, under vLLM's names.
func TestMetrics(t *testing.T) {
	r := serveEcho(t, executor.EchoConfig{Blocks: 64}, engine.Config{MaxQueueSize: 8}, Options{})
	r.ask(completionsPath, object{"prompt": count(7), "n": 2, "max_tokens": 5, "ignore_eos": true})
	r.streamed(chatPath, object{"messages": say("a"), "max_tokens": 3, "ignore_eos": true})
	r.refused(completionsPath, object{"prompt": "a", "n": 500}, 400, "n", "invalid_value")
	r.refused(completionsPath, object{"prompt": "a", "model": "other"}, 404, "model", "model_not_found")
	r.refused("/nowhere", object{}, 404, "", "unknown_route")
	r.resting()
	got := r.scrape()
	r.until("the ends of all calls are counted", func() bool {
		got = r.scrape()
		return got["cbactor_calls_open"] == 0 && got[`cbactor_http_requests_total{route="/v1/chat/completions",status="200"}`] == 1 && got[`cbactor_http_requests_total{route="",status="404"}`] == 1
	})
	m := r.engine.Metrics()
	const labels = `engine="0",model_name="tiny"`
	for series, want := range map[string]float64{
		`vllm:num_requests_running{` + labels + `}`:                                         0,
		`vllm:num_requests_waiting{` + labels + `}`:                                         0,
		`vllm:kv_cache_usage_perc{` + labels + `}`:                                          0,
		`vllm:prompt_tokens_total{` + labels + `}`:                                          float64(m.PromptTokens),
		`vllm:prefix_cache_queries_total{` + labels + `}`:                                   float64(m.PromptTokens),
		`vllm:prefix_cache_hits_total{` + labels + `}`:                                      float64(m.CachedTokens),
		`vllm:generation_tokens_total{` + labels + `}`:                                      13,
		`vllm:request_success_total{engine="0",finished_reason="length",model_name="tiny"}`: 3,
		`vllm:request_success_total{engine="0",finished_reason="stop",model_name="tiny"}`:   0,
		`vllm:request_success_total{engine="0",finished_reason="abort",model_name="tiny"}`:  0,
		`vllm:time_to_first_token_seconds_count{` + labels + `}`:                            3,
		`vllm:inter_token_latency_seconds_count{` + labels + `}`:                            4 + 4 + 2,
		`vllm:e2e_request_latency_seconds_count{` + labels + `}`:                            3,
		`vllm:e2e_request_latency_seconds_bucket{` + labels + `,le="7680"}`:                 3,
		`vllm:request_queue_time_seconds_count{` + labels + `}`:                             3,
		`vllm:request_generation_tokens_sum{` + labels + `}`:                                13,
		`vllm:request_generation_tokens_bucket{` + labels + `,le="2"}`:                      0,
		`vllm:request_generation_tokens_bucket{` + labels + `,le="5"}`:                      3,
		`vllm:request_params_max_tokens_sum{` + labels + `}`:                                5 + 5 + 3,
		`cbactor_sequences_ended_total{engine="0",model_name="tiny",reason="length"}`:       3,
		`cbactor_sequences_accepted_total{` + labels + `}`:                                  3,
		`cbactor_weight_version_info{engine="0",model_name="tiny",version="default"}`:       1,
		`cbactor_engine_mode_info{engine="0",mode="running",model_name="tiny"}`:             1,
		`cbactor_executor_info{engine="0",executor="echo",model_name="tiny"}`:               1,
		`cbactor_weight_updates_total{` + labels + `}`:                                      0,
		`cbactor_blocks{` + labels + `}`:                                                    64,
		`cbactor_http_requests_total{route="/v1/completions",status="200"}`:                 1,
		`cbactor_http_requests_total{route="/v1/completions",status="400"}`:                 1,
		`cbactor_http_requests_total{route="",status="404"}`:                                1,
		`cbactor_refused_total{code="model_not_found"}`:                                     1,
		`cbactor_calls_open`:             0,
		`cbactor_slow_readers_cut_total`: 0,
	} {
		if v, is := got[series]; !is || v != want {
			t.Errorf("%s is %v (%v), want %v", series, v, is, want)
		}
	}
	for _, part := range []string{"go_goroutines", "process_"} {
		found := false
		for series := range got {
			found = found || strings.HasPrefix(series, part)
		}
		if !found && part == "go_goroutines" { // of processes they are known of some systems alone
			t.Errorf("nothing is told of %s", part)
		}
	}
}

// A call whose client goes is counted with all that it had; one that is open, as such.
func TestMetricsOfCallsThatAreLeft(t *testing.T) {
	r, _ := paced(t, 10*time.Millisecond, executor.EchoConfig{Blocks: 128})
	ctx, leave := context.WithCancel(t.Context())
	resp := r.open(ctx, completionsPath, object{"prompt": count(3), "n": 2, "max_tokens": 1000, "ignore_eos": true, "stream": true})
	r.until("it is open", func() bool { return r.scrape()["cbactor_calls_open"] == 1 })
	leave()
	drop(t, resp)
	r.until("its end is counted", func() bool {
		s := r.scrape()
		return s[`vllm:request_success_total{engine="0",finished_reason="abort",model_name="tiny"}`] == 2 &&
			s[`vllm:e2e_request_latency_seconds_count{engine="0",model_name="tiny"}`] == 2 && s["cbactor_calls_open"] == 0 &&
			s[`cbactor_refused_total{code="request_cancelled"}`] == 1
	})
	r.resting()
}

// Administrators find metrics where their routes are.
func TestMetricsForAdministrators(t *testing.T) {
	r := serveEcho(t, executor.EchoConfig{}, engine.Config{}, Options{AdminApart: true})
	w := httptest.NewRecorder()
	r.server.AdminHandler().ServeHTTP(deadlined{w}, httptest.NewRequest(http.MethodGet, metricsPath, nil))
	if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "vllm:num_requests_running") {
		t.Errorf("%d: %s", w.Code, w.Body)
	}
}

// What a program tells beside is on the same page.
func TestMetricsOfTheProgram(t *testing.T) {
	more := prometheus.NewGauge(prometheus.GaugeOpts{Name: "of_the_program", Help: "A number."})
	more.Set(17)
	r := serveEcho(t, executor.EchoConfig{}, engine.Config{}, Options{Collectors: []prometheus.Collector{more}})
	if got := r.scrape()["of_the_program"]; got != 17 {
		t.Errorf("it is %g", got)
	}
	twice := Options{Models: r.server.options.Models, Collectors: []prometheus.Collector{more, more}}
	if _, err := New(twice); err == nil || !strings.Contains(err.Error(), "Options.Collectors") {
		t.Errorf("one twice: %v", err)
	}
}

func TestLengths(t *testing.T) {
	for most, want := range map[int]int{1: 1, 4: 2, 5: 3, 100: 7, 8192: 12} {
		if got := lengths(most); len(got) != want || int(got[len(got)-1]) > most {
			t.Errorf("up to %d: %v", most, got)
		}
	}
}

// BenchmarkObserve is what a token costs to be measured.
func BenchmarkObserve(b *testing.B) {
	s := &Server{models: []Model{{Name: "tiny", Engine: measured{}}}, places: make(chan struct{}, 1)}
	meters, err := s.newMeters()
	if err != nil {
		b.Fatal(err)
	}
	m := meters.sequences["tiny"]
	begun := time.Now()
	const tokens = 1000
	out := texts.Output{Output: engine.Output{Timing: engine.Timing{Created: begun, Started: begun, First: begun, Ended: begun.Add(tokens * time.Millisecond)}}}
	for i := range tokens {
		out.Timing.Tokens = append(out.Timing.Tokens, begun.Add(time.Duration(i)*time.Millisecond))
	}
	b.ReportAllocs()
	for b.Loop() {
		m.observe(&texts.Request{}, &out)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/tokens, "ns/token")
}

// measured is an engine of which only its size is asked.
type measured struct{ engine.API }

func (measured) Info() engine.Info { return engine.Info{MaxContext: 8192} }

// waiting is an executor whose threads wait a millisecond longer in each step.
type waiting struct{ executor.Executor }

func (w waiting) Finish(r *executor.Result) error {
	err := w.Executor.Finish(r)
	r.LongestWait = int64(r.Step) * time.Millisecond.Nanoseconds()
	return err
}

func TestMetricsTellOfWaits(t *testing.T) {
	model, codec := tinyModel(t)
	cfg := engine.Config{Checkpoint: model, Executor: waiting{executor.NewEcho(executor.EchoConfig{Blocks: 64, Vocab: 2048})}}
	r := serve(t, cfg, Options{}, codec, nil)
	r.ask(completionsPath, object{"prompt": count(7), "max_tokens": 5, "ignore_eos": true})
	const labels = `{engine="0",model_name="tiny"}`
	r.until("all steps are counted with their waits", func() bool { // one after the other
		got := r.scrape()
		n := got["cbactor_steps_total"+labels]
		sum, longest := got["cbactor_step_wait_seconds_total"+labels], got["cbactor_longest_step_wait_seconds"+labels]
		return n >= 5 && math.Abs(sum-n*(n+1)/2/1000) <= 1e-9 && math.Abs(longest-n/1000) <= 1e-9 && r.engine.Metrics().BlocksFree == 64
	})
}
