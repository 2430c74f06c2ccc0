package server

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/executor"
)

// untouched is a body that notes what is read of it.
type untouched struct{ read int }

func (u *untouched) Read(p []byte) (int, error) {
	n := copy(p, "--x\r\nContent-Disposition: form-data; name=\"a\"; filename=\"a\"\r\n\r\n")
	u.read += n
	if u.read > 1<<20 {
		return 0, io.ErrUnexpectedEOF
	}
	return n, nil
}

// Routes that answer GET read nothing of a body that is no JSON: what net/http makes of forms
// has no bound.
func TestNoRouteReadsForms(t *testing.T) {
	r := serveEcho(t, executor.EchoConfig{}, engine.Config{}, Options{})
	handler := r.server.Handler()
	for _, route := range slices.Concat(routes, adminRoutes) {
		if route.method != http.MethodGet {
			continue
		}
		body := &untouched{}
		path := route.path
		if path == "/v1/weights/changes" {
			path += "?timeout=0"
		}
		req := httptest.NewRequest(http.MethodGet, "http://localhost"+path, body)
		req.RemoteAddr = "127.0.0.1:1"
		req.Header.Set("Content-Type", "multipart/form-data; boundary=x")
		handler.ServeHTTP(deadlined{httptest.NewRecorder()}, req)
		if body.read > 1 /* shows that there is one */ || req.MultipartForm != nil {
			t.Errorf("%s reads %d bytes", route.path, body.read)
		}
	}
}

// HEAD changes nothing, and is answered where GET changes nothing either.
func TestHeadChangesNothing(t *testing.T) {
	r := serveEcho(t, executor.EchoConfig{}, engine.Config{}, Options{})
	for path, want := range map[string]int{"/version": 200, "/v1/weights": 200, "/is_paused": 200, "/release_memory_occupation": 405, "/resume_memory_occupation": 405, "/flush_cache": 405} {
		resp, err := http.Head(r.url + path)
		if err != nil {
			t.Fatal(err)
		}
		if drop(t, resp); resp.StatusCode != want {
			t.Errorf("%s: %d", path, resp.StatusCode)
		}
	}
	if sleeps, _ := r.server.models[0].sleeps(); sleeps {
		t.Error("the model sleeps")
	}
}

// A body that may be missing may be so in chunks, of any type.
func TestEmptyBodyInChunks(t *testing.T) {
	r := serveEcho(t, executor.EchoConfig{}, engine.Config{}, Options{Limits: Limits{Arrival: 50 * time.Millisecond}})
	const head = "POST /pause?mode=keep HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n"
	for request, want := range map[string]int{
		head + "\r\n0\r\n\r\n": 200,
		head + "Content-Type: application/json\r\n\r\n0\r\n\r\n":                               200,
		head + "Content-Type: application/json\r\n\r\n10\r\n{\"mode\": \"keep\"}\r\n0\r\n\r\n": 200,
		head + "\r\n2\r\n{}\r\n0\r\n\r\n":                                                      415,
		head + "\r\n":                                                                          408,
	} {
		if got := r.raw(request); got != want {
			t.Errorf("%q: %d, want %d", request, got, want)
		}
	}
}
