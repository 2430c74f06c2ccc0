package server

import (
	"context"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/executor"
)

// answered gives the status with which a body is answered, without a connection.
func (r *rig) answered(ctx context.Context, path, body string) int {
	req := httptest.NewRequestWithContext(ctx, http.MethodPost, "http://localhost"+path, strings.NewReader(body))
	req.Header.Set("Content-Type", "application/json")
	w := deadlined{httptest.NewRecorder()}
	r.server.Handler().ServeHTTP(w, req)
	return w.Code
}

// K2: what bodies cost is bounded, also of those that are written to cost the most: with as
// many values as there may be, and with as many as the bytes have room for.
func TestReportK2Bodies(t *testing.T) {
	r := serveTiny(t, engine.Config{}, Options{})
	for _, c := range []struct{ path, before, item, after string }{
		{completionsPath, `{"prompt":[`, `""`, `]}`},
		{completionsPath, `{"prompt":[`, `[]`, `]}`},
		{completionsPath, `{"prompt":[`, `1`, `]}`},
		{completionsPath, `{"stop_token_ids":[`, `1`, `]}`},
		{completionsPath, `{"unknown":[`, `{}`, `]}`},
		{chatPath, `{"messages":[`, `{}`, `]}`},
		{chatPath, `{"messages":[`, `null`, `]}`},
		{chatPath, `{"messages":[{"role":"user","content":[`, `{}`, `]}]}`},
		{chatPath, `{"tools":[`, `{}`, `]}`},
		{"/v1/responses", `{"input":[`, `{}`, `]}`},
		{"/v1/responses", `{"input":[`, `null`, `]}`},
		{"/generate", `{"text":[`, `""`, `]}`},
		{"/generate", `{"input_ids":[`, `[]`, `]}`},
		{"/generate", `{"text":"a","logprob_start_len":[`, `1`, `]}`},
		{"/generate", `{"text":"a","return_logprob":[`, `true`, `]}`},
		{"/generate", `{"text":"a","sampling_params":[`, `null`, `]}`},
		{"/inference/v1/generate", `{"token_ids":[`, `1`, `]}`},
		{"/tokenize", `{"messages":[`, `{}`, `]}`},
		{"/detokenize", `{"tokens":[`, `1`, `]}`},
	} {
		most := maxWords - 10
		if c.item == "1" {
			most = maxCommas
		}
		for _, n := range []int{most, 8<<20/(len(c.item)+1) - 100} {
			body := c.before + strings.Repeat(c.item+",", n) + c.item + c.after
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			status := r.answered(t.Context(), c.path, body)
			runtime.ReadMemStats(&after)
			if cost := (after.TotalAlloc - before.TotalAlloc) >> 20; cost > 150 || status != 400 && c.path != "/detokenize" {
				t.Errorf("%s %s%s…, %d times: %d, %d MiB", c.path, c.before, c.item, n, status, cost)
			}
		}
	}
}

// Of large bodies few are made values of at a time, of small ones any number.
func TestLargeBodiesWait(t *testing.T) {
	r := serveEcho(t, executor.EchoConfig{}, engine.Config{}, Options{})
	for range decoders {
		r.server.decoders <- struct{}{}
	}
	if got := r.answered(t.Context(), "/tokenize", `{"prompt":"a"}`); got != http.StatusOK {
		t.Errorf("a small one: %d", got)
	}
	large := `{"prompt":"a","x":"` + strings.Repeat("a", largeBody) + `"}`
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if got := r.answered(ctx, "/tokenize", large); got == http.StatusOK {
		t.Error("a large one does not wait")
	}
	<-r.server.decoders
	if got := r.answered(t.Context(), "/tokenize", large); got != http.StatusOK {
		t.Errorf("then: %d", got)
	}
}

// All bodies together are bounded, and what they took is free when they are answered.
func TestBodiesAreBounded(t *testing.T) {
	r := serveEcho(t, executor.EchoConfig{}, engine.Config{}, Options{Limits: Limits{Body: 1000}})
	for range 3 * heldBodies {
		if got := r.answered(t.Context(), "/tokenize", `{"prompt":"`+strings.Repeat("a", 900)+`"}`); got != http.StatusOK {
			t.Fatalf("%d, with %d bytes held", got, r.server.held.Load())
		}
	}
	r.server.held.Add(heldBodies*1000 - 10)
	r.refused("/tokenize", `{"prompt":"a"}`, 429, "", "too_many_bytes")
	r.until("what was refused is not held", func() bool { return r.server.held.Load() == heldBodies*1000-10 })
}
