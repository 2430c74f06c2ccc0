package server

import (
	"maps"
	"net/http"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/cbactor/cbactor/engine/texts"
)

// traced begins the span of a request of a route, within that of its client, if it names one
// (W3C traceparent). Reading routes have none: who watches a process asks them all the time.
func (s *Server) traced(r *http.Request, route string) *http.Request {
	if s.options.Tracer == nil || r.Method == http.MethodGet || r.Method == http.MethodHead {
		return r
	}
	a := accountOf(r)
	ctx := propagation.TraceContext{}.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
	ctx, a.span = s.options.Tracer.Start(ctx, r.Method+" "+route, trace.WithSpanKind(trace.SpanKindServer), trace.WithTimestamp(a.begun),
		trace.WithAttributes(attribute.String("http.request.method", r.Method), attribute.String("http.route", route), attribute.String("gen_ai.request.id", a.id)))
	return r.WithContext(ctx)
}

// traceEnd notes the end of a sequence.
func (a *account) traceEnd(sequence int, out *texts.Output) {
	if a.span == nil {
		return
	}
	which := trace.WithAttributes(attribute.Int("sequence", sequence))
	if t := out.Timing.First; !t.IsZero() {
		a.span.AddEvent("first token", which, trace.WithTimestamp(t))
	}
	if t := out.Timing.Ended; !t.IsZero() {
		a.span.AddEvent("finished", which, trace.WithTimestamp(t), trace.WithAttributes(attribute.String("reason", string(out.FinishReason))))
	}
}

// endSpan ends the span of a request that was answered with a status.
func (a *account) endSpan(status int) {
	if a.span == nil {
		return
	}
	a.span.SetAttributes(attribute.Int("http.response.status_code", status))
	if f := a.failed; f != nil {
		a.span.SetAttributes(attribute.String("error.type", f.code))
		if f.status >= http.StatusInternalServerError {
			a.span.SetStatus(codes.Error, f.code)
		}
	}
	if a.sequences > 0 {
		a.span.SetAttributes(a.generation()...)
	}
	a.span.End()
}

// generation is what was generated, by OpenTelemetry's conventions for generative models, and
// by the names that vLLM 0.33 has beside them (vllm/tracing/utils.py). Times are in seconds.
func (a *account) generation() []attribute.KeyValue {
	t, s := &a.timing, &a.asked.Sampling
	operation := "text_completion"
	if a.route == "/v1/chat/completions" || a.route == "/v1/responses" {
		operation = "chat"
	}
	list := []attribute.KeyValue{
		attribute.String("gen_ai.operation.name", operation),
		attribute.String("gen_ai.request.model", a.model),
		attribute.String("gen_ai.response.model", a.model),
		attribute.Int("gen_ai.request.n", max(a.asked.N, 1)),
		attribute.Float64("gen_ai.request.temperature", float64(s.Temperature)),
		attribute.Float64("gen_ai.request.top_p", float64(s.TopP)),
		attribute.Int("gen_ai.usage.input_tokens", a.usage.Prompt),
		attribute.Int("gen_ai.usage.output_tokens", a.usage.Completion),
		attribute.Int("gen_ai.usage.prompt_tokens", a.usage.Prompt),
		attribute.Int("gen_ai.usage.completion_tokens", a.usage.Completion),
		attribute.Int("gen_ai.usage.num_sequences", a.sequences),
		attribute.StringSlice("gen_ai.response.finish_reasons", slices.Sorted(maps.Keys(a.finishes))),
		attribute.StringSlice("cbactor.weight_versions", a.versions),
	}
	if a.asked.MaxNewTokens > 0 {
		list = append(list, attribute.Int("gen_ai.request.max_tokens", a.asked.MaxNewTokens))
	}
	for _, one := range []struct {
		name     string
		from, to time.Time
	}{
		{"gen_ai.latency.time_in_queue", t.Created, t.Started},
		{"gen_ai.latency.time_to_first_token", a.begun, t.First},
		{"gen_ai.latency.time_in_model_prefill", t.Started, t.First},
		{"gen_ai.latency.time_in_model_decode", t.First, t.Ended},
		{"gen_ai.latency.time_in_model_inference", t.Started, t.Ended},
		{"gen_ai.latency.e2e", a.begun, t.Ended},
	} {
		if v, is := inSeconds(one.from, one.to); is {
			list = append(list, attribute.Float64(one.name, v))
		}
	}
	return list
}
