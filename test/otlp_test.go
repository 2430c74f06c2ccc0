package test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"syscall"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	"google.golang.org/protobuf/proto"
)

// A server sends a span for each call to who takes OTLP over HTTP, within the span of its
// client, and the last ones before it ends.
func TestServeSendsTraces(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no such signals")
	}
	came := make(chan *collector.ExportTraceServiceRequest, 16)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, err := io.ReadAll(r.Body)
		m := new(collector.ExportTraceServiceRequest)
		if err == nil {
			err = proto.Unmarshal(data, m)
		}
		if err != nil || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" {
			t.Errorf("%s %s: %v", r.URL.Path, r.Header.Get("Content-Type"), err)
		}
		came <- m
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	defer receiver.Close()
	server := &serving{}
	url, err := server.begin(command(t, "serve", "--listen", "127.0.0.1:0", "--model", "tiny", "--num-blocks", "64", "--otlp", receiver.URL, "--log-level", "info", "--log-format", "json"))
	defer server.stop()
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/v1/completions", strings.NewReader(`{"prompt":"Once upon","max_tokens":5,"ignore_eos":true}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Request-Id", "mine")
	req.Header.Set("Traceparent", "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil || resp.StatusCode != 200 {
		t.Fatalf("%d, %v", resp.StatusCode, err)
	}
	if err := server.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := server.endsWith("exit status 0"); err != nil {
		t.Fatal(err)
	}
	m := <-came
	scope := m.GetResourceSpans()[0].GetScopeSpans()[0]
	span := scope.GetSpans()[0]
	if len(scope.GetSpans()) != 1 || span.GetName() != "POST /v1/completions" || string(span.GetTraceId()) != "\x01\x23\x45\x67\x89\xab\xcd\xef\x01\x23\x45\x67\x89\xab\xcd\xef" ||
		string(span.GetParentSpanId()) != "\x01\x23\x45\x67\x89\xab\xcd\xef" || len(span.GetEvents()) != 2 {
		t.Errorf("%v", scope)
	}
	if got := valueOf(m.GetResourceSpans()[0].GetResource().GetAttributes(), "service.name").GetStringValue(); got != "cbactor" {
		t.Errorf("of service %q", got)
	}
	if got := valueOf(span.GetAttributes(), "gen_ai.usage.completion_tokens").GetIntValue(); got != 5 {
		t.Errorf("%d tokens", got)
	}
	if log := server.stderr.String(); !strings.Contains(log, `"request":"mine"`) || !strings.Contains(log, `"completion_tokens":5`) || strings.Contains(log, "Once upon") {
		t.Errorf("its log: %s", log)
	}
}

func valueOf(list []*common.KeyValue, key string) *common.AnyValue {
	for _, a := range list {
		if a.GetKey() == key {
			return a.GetValue()
		}
	}
	return nil
}
