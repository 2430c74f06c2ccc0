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

// connection is a ResponseWriter with the deadlines of a connection.
type connection struct{ *httptest.ResponseRecorder }

func (connection) SetReadDeadline(time.Time) error  { return nil }
func (connection) SetWriteDeadline(time.Time) error { return nil }

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
		req := httptest.NewRequest(http.MethodGet, "http://localhost"+route.path+"?timeout=0", body)
		req.RemoteAddr = "127.0.0.1:1"
		req.Header.Set("Content-Type", "multipart/form-data; boundary=x")
		handler.ServeHTTP(connection{httptest.NewRecorder()}, req)
		if body.read > 0 || req.MultipartForm != nil {
			t.Errorf("%s reads %d bytes", route.path, body.read)
		}
	}
}
