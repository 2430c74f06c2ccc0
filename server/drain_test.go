package server

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/executor"
)

// listening has the server of a rig serve a listener of its own, until drained is called.
func (r *rig) listening() (served <-chan error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		r.t.Fatal(err)
	}
	r.url = "http://" + l.Addr().String()
	end := make(chan error, 1)
	go func() { end <- r.server.Serve(l) }()
	return end
}

// J1: what is open when a server is drained comes to its end, what is new is refused at once.
func TestReportJ1Drain(t *testing.T) {
	gate := make(chan struct{})
	r := serveEcho(t, executor.EchoConfig{Blocks: 64, Delay: func(*executor.Batch) { <-gate }}, engine.Config{}, Options{})
	served := r.listening()
	resp := r.open(t.Context(), completionsPath, object{"prompt": count(5), "max_tokens": 3, "ignore_eos": true, "stream": true})
	defer drop(t, resp)
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		r.server.Drain(t.Context())
	}()
	<-r.server.draining
	r.refused(completionsPath, object{"prompt": "a"}, 503, "", "server_shutdown")
	var c condition
	if status := r.get("/ready", &c); status != 503 || c.Status != "draining" {
		t.Errorf("%d %+v", status, c)
	}
	close(gate)
	data, err := io.ReadAll(resp.Body)
	if err != nil || !strings.Contains(string(data), `"finish_reason":"length"`) || !strings.HasSuffix(string(data), "data: [DONE]\n\n") {
		t.Errorf("%v: %s", err, data)
	}
	<-drained
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// J1: what does not end in time is told so.
func TestReportJ1CutOff(t *testing.T) {
	r, _ := paced(t, 10*time.Millisecond, executor.EchoConfig{Blocks: 128})
	served := r.listening()
	body := object{"prompt": count(5), "max_tokens": 1000, "ignore_eos": true, "stream": true}
	resp := r.open(t.Context(), completionsPath, body)
	defer drop(t, resp)
	body["stream"] = false
	status := make(chan int, 1)
	go func() {
		got, _, _ := r.post(completionsPath, body)
		status <- got
	}()
	r.until("both run", func() bool { return r.engine.Metrics().Running == 2 })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	r.server.Drain(ctx)
	data, err := io.ReadAll(resp.Body)
	if err != nil || !strings.Contains(string(data), `"code":"server_shutdown"`) {
		t.Errorf("%v: %.2000s", err, data)
	}
	if got := <-status; got != 503 {
		t.Errorf("not streamed: %d", got)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
	r.resting()
}

// More calls than may generate at a time are refused, and the places come back.
func TestCallsAreBounded(t *testing.T) {
	gate := make(chan struct{})
	r := serveEcho(t, executor.EchoConfig{Blocks: 64, Delay: func(*executor.Batch) { <-gate }}, engine.Config{}, Options{Limits: Limits{Calls: 1}})
	ctx, leave := context.WithCancel(t.Context())
	resp := r.open(ctx, completionsPath, object{"prompt": "a", "stream": true})
	r.refused(completionsPath, object{"prompt": "a"}, 429, "", "too_many_calls")
	leave()
	drop(t, resp)
	close(gate)
	r.until("the place is free", func() bool { return len(r.server.places) == 0 })
	r.ask(completionsPath, object{"prompt": "a"})
}

// A body that does not arrive costs its sender the connection.
func TestBodyThatDoesNotArrive(t *testing.T) {
	r := serveEcho(t, executor.EchoConfig{}, engine.Config{}, Options{Limits: Limits{Arrival: 50 * time.Millisecond}})
	if got := r.raw("POST /v1/completions HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"); got != 408 {
		t.Errorf("%d", got)
	}
}

// A handler that panics costs its own call an error.
func TestPanicIsOneCalls(t *testing.T) {
	j := &journal{}
	r := serveEcho(t, executor.EchoConfig{}, engine.Config{}, Options{Log: zerolog.New(j)})
	r.server.models[0].Texts = nil
	r.refused(completionsPath, object{"prompt": "a"}, 500, "", "internal_error")
	if told := j.String(); !strings.Contains(told, "nil pointer") || !strings.Contains(told, "(*call).encode") {
		t.Errorf("where it was is not in the log: %s", told)
	}
	var c condition
	if status := r.get("/health", &c); status != 200 {
		t.Errorf("%d", status)
	}

	// Where a part of the answer was written, the connection is cut, so that it is not taken
	// for whole.
	halves := httptest.NewServer(r.server.named(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusOK)
		panic("on purpose")
	})))
	defer halves.Close()
	if resp, err := http.Get(halves.URL); err == nil {
		if _, err = io.ReadAll(resp.Body); err == nil {
			t.Error("a half of an answer looks whole")
		}
		drop(t, resp)
	}
}

func TestListenerFails(t *testing.T) {
	r := serveEcho(t, executor.EchoConfig{}, engine.Config{}, Options{})
	if err := r.server.Serve(closedListener{}); err == nil {
		t.Error("a listener that fails is served")
	}
}

// closedListener accepts nothing.
type closedListener struct{ net.Listener }

func (closedListener) Accept() (net.Conn, error) { return nil, errors.New("closed") }
func (closedListener) Close() error              { return nil }
func (closedListener) Addr() net.Addr            { return &net.TCPAddr{} }
