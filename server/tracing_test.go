package server

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/texts"
	"github.com/cbactor/cbactor/executor"
)

// traced has a server whose spans are kept.
func traced(t *testing.T, ec executor.EchoConfig) (*rig, *tracetest.SpanRecorder) {
	spans := tracetest.NewSpanRecorder()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))
	return serveEcho(t, ec, engine.Config{}, Options{Tracer: provider.Tracer("test")}), spans
}

// ended is the only span that has ended.
func (r *rig) ended(spans *tracetest.SpanRecorder) sdktrace.ReadOnlySpan {
	r.t.Helper()
	r.until("a span has ended", func() bool { return len(spans.Ended()) == 1 })
	return spans.Ended()[0]
}

// A call is a span within that of its client, and says what vLLM's spans say.
func TestSpanOfACall(t *testing.T) {
	r, spans := traced(t, executor.EchoConfig{Blocks: 64})
	r.get("/health", new(any))
	req := r.request(t.Context(), chatPath, object{"messages": say("a"), "n": 2, "max_tokens": 3, "ignore_eos": true, "temperature": 0.5, "top_p": 0.25})
	req.Header.Set("Traceparent", "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01")
	req.Header.Set("X-Request-Id", "mine")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	drop(t, resp)
	s := r.ended(spans)
	if s.Name() != "POST /v1/chat/completions" || s.SpanContext().TraceID().String() != "0123456789abcdef0123456789abcdef" || s.Parent().SpanID().String() != "0123456789abcdef" || !s.Parent().IsRemote() {
		t.Errorf("%s of %v in %v", s.Name(), s.SpanContext(), s.Parent())
	}
	have := attribute.NewSet(s.Attributes()...)
	for _, want := range []attribute.KeyValue{
		attribute.String("gen_ai.operation.name", "chat"), attribute.String("gen_ai.request.model", "tiny"), attribute.String("gen_ai.request.id", "mine"),
		attribute.Int("gen_ai.request.n", 2), attribute.Int("gen_ai.request.max_tokens", 3), attribute.Float64("gen_ai.request.temperature", 0.5), attribute.Float64("gen_ai.request.top_p", 0.25),
		attribute.Int("gen_ai.usage.output_tokens", 6), attribute.Int("gen_ai.usage.completion_tokens", 6), attribute.Int("gen_ai.usage.num_sequences", 2),
		attribute.StringSlice("gen_ai.response.finish_reasons", []string{"length"}), attribute.StringSlice("cbactor.weight_versions", []string{"default"}),
		attribute.Int("http.response.status_code", 200), attribute.String("http.route", chatPath),
	} {
		if v, is := have.Value(want.Key); !is || v != want.Value {
			t.Errorf("%s is %v, want %v", want.Key, v, want.Value)
		}
	}
	var before float64
	for _, key := range []attribute.Key{"gen_ai.latency.time_in_queue", "gen_ai.latency.time_to_first_token", "gen_ai.latency.e2e"} {
		v, is := have.Value(key)
		if seconds := v.AsFloat64(); !is || seconds < before || seconds > patience.Seconds() {
			t.Errorf("%s is %v, after %v", key, seconds, before)
		}
		before = v.AsFloat64()
	}
	events := map[string]int{}
	for _, e := range s.Events() {
		events[e.Name]++
		if e.Time.Before(s.StartTime()) || e.Time.After(s.EndTime()) {
			t.Errorf("%s at %v, the span is from %v to %v", e.Name, e.Time, s.StartTime(), s.EndTime())
		}
	}
	if events["first token"] != 2 || events["finished"] != 2 {
		t.Errorf("%v", events)
	}
}

// What fails in the middle of a stream fails its span.
func TestSpanOfAFailure(t *testing.T) {
	r, spans := traced(t, executor.EchoConfig{Blocks: 64, Fail: func([]int32) error { return errOnPurpose }})
	r.events(completionsPath, object{"prompt": []int32{7, 8}})
	s := r.ended(spans)
	have := attribute.NewSet(s.Attributes()...)
	if code, _ := have.Value("error.type"); s.Status().Code != codes.Error || code.AsString() != "request_failed" {
		t.Errorf("%+v, %v", s.Status(), code)
	}
}

// Times are those of the account, whenever they are told, and what is the client's fault is an
// error of no span.
func TestSpanOfAnAccount(t *testing.T) {
	spans := tracetest.NewSpanRecorder()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))
	s := &Server{options: Options{Tracer: provider.Tracer("test")}}
	begun := time.Now().Add(-time.Hour)
	after := func(seconds int) time.Time { return begun.Add(time.Duration(seconds) * time.Second) }
	a := &account{begun: begun, route: completionsPath, model: "tiny", asked: &texts.Request{}, meters: &sequenceMeters{}, failed: &refusal{http.StatusConflict, "on purpose", "", "conflict"}}
	r := httptest.NewRequest(http.MethodPost, completionsPath, nil)
	s.traced(r.WithContext(context.WithValue(t.Context(), accountKey{}, a)), completionsPath)
	out := texts.Output{Output: engine.Output{FinishReason: engine.FinishLength, Timing: engine.Timing{Created: after(1), Started: after(3), First: after(6), Ended: after(10)}}}
	out.Usage = engine.Usage{PromptTokens: 5, CompletionTokens: 2}
	a.ended(3, &out)
	a.endSpan(http.StatusConflict)
	span := spans.Ended()[0]
	if !span.StartTime().Equal(begun) || span.Status().Code == codes.Error {
		t.Errorf("from %v, want %v; %+v", span.StartTime(), begun, span.Status())
	}
	have := attribute.NewSet(span.Attributes()...)
	for _, want := range []attribute.KeyValue{
		attribute.String("error.type", "conflict"), attribute.String("gen_ai.operation.name", "text_completion"), attribute.String("gen_ai.response.model", "tiny"),
		attribute.Int("gen_ai.usage.input_tokens", 5), attribute.Int("gen_ai.usage.prompt_tokens", 5), attribute.Int("gen_ai.usage.output_tokens", 2),
		attribute.Float64("gen_ai.latency.time_in_queue", 2), attribute.Float64("gen_ai.latency.time_to_first_token", 6),
		attribute.Float64("gen_ai.latency.time_in_model_prefill", 3), attribute.Float64("gen_ai.latency.time_in_model_decode", 4),
		attribute.Float64("gen_ai.latency.time_in_model_inference", 7), attribute.Float64("gen_ai.latency.e2e", 10),
	} {
		if v, is := have.Value(want.Key); !is || v != want.Value {
			t.Errorf("%s is %v, want %v", want.Key, v, want.Value)
		}
	}
	first, finished := span.Events()[0], span.Events()[1]
	if !first.Time.Equal(after(6)) || !slices.Contains(first.Attributes, attribute.Int("sequence", 3)) ||
		!finished.Time.Equal(after(10)) || !slices.Contains(finished.Attributes, attribute.String("reason", "length")) {
		t.Errorf("%+v, %+v", first, finished)
	}
}
