package server

import (
	"strings"
	"testing"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/executor"
)

// What a response cannot be is refused by its name.
func TestResponsesRefused(t *testing.T) {
	r := serveEcho(t, executor.EchoConfig{}, engine.Config{}, Options{})
	for body, param := range map[string]string{
		`{}`: "input", `{"input":[]}`: "input", `{"input":5}`: "input", `{"input":[{"type":"reasoning"}]}`: "input", `{"input":[{"type":"function_call_output"}]}`: "input.0", `{"input":[{"type":"function_call","call_id":"a"}]}`: "input.0.tool_calls.0",
		`{"input":"a","previous_response_id":"x"}`: "previous_response_id", `{"input":"a","background":true}`: "background",
		`{"input":"a","tools":[{"type":"web_search"}]}`:      "tools.0",
		`{"input":"a","text":{"format":{"type":"grammar"}}}`: "text.format", `{"input":"a","text":{"format":{"type":"json_schema","name":"f"}}}`: "text.format.schema",
		`{"input":"a","text":{"format":{"type":"json_schema","schema":[]}}}`: "text.format.schema", `{"input":"a","text":{"format":{"type":"json_object"}},"min_tokens":2}`: "min_tokens",
		`{"input":"a","max_output_tokens":0}`: "max_output_tokens", `{"input":"a","n":2}`: "n", `{"input":"a","metadata":{"a":1}}`: "metadata.a",
	} {
		r.refused("/v1/responses", body, 400, param, "invalid_value")
	}
	r.refused("/v1/responses", object{"input": strings.Repeat("a b ", 200)}, 400, "input", "context_length_exceeded")
}

// An error in the middle of a response is an event of its own.
func TestResponsesFail(t *testing.T) {
	r := serveEcho(t, executor.EchoConfig{Blocks: 64, Fail: func([]int32) error { return errOnPurpose }}, engine.Config{}, Options{})
	status, _, data := r.post("/v1/responses", `{"input":"a","stream":true}`)
	if status != 200 || !strings.Contains(string(data), "event: error\ndata: {\"type\":\"error\",\"sequence_number\":2,\"message\":") || strings.Contains(string(data), "DONE") {
		t.Errorf("%d: %s", status, data)
	}
}
