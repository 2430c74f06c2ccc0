package server

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/executor"
)

// probe are routes of administrators that do nothing.
var probe = []route{{http.MethodGet, "/probe", "for tests", done}, {http.MethodPost, "/probe", "for tests", done}}

func done(_ *Server, w http.ResponseWriter, _ *http.Request) error {
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// withProbe has servers that are made in a test answer to probe.
func withProbe(t *testing.T) {
	before := adminRoutes
	adminRoutes = append(before[:len(before):len(before)], probe...)
	t.Cleanup(func() { adminRoutes = before })
}

// asked is the status that a handler answers a request for probe with, by a method, from an
// address and with headers "Name: value".
func asked(h http.Handler, method, from string, headers ...string) int {
	return probed(h, method, from, headers...).Code
}

// probed is the whole answer.
func probed(h http.Handler, method, from string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://127.0.0.1/probe", nil)
	r.RemoteAddr = from
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		if name == "Host" {
			r.Host = value
		} else {
			r.Header.Set(name, value)
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(deadlined{w}, r)
	return w
}

// deadlined is a recorder that takes deadlines, as connections do.
type deadlined struct{ *httptest.ResponseRecorder }

func (deadlined) SetWriteDeadline(time.Time) error { return nil }
func (deadlined) SetReadDeadline(time.Time) error  { return nil }

const (
	here  = "127.0.0.1:4000"
	there = "192.0.2.7:4000"
)

// K3: without a token, administrators are programs of this machine, and no others.
func TestReportK3AdministratorsAreOfThisMachine(t *testing.T) {
	withProbe(t)
	s := serveEcho(t, executor.EchoConfig{}, engine.Config{}, Options{}).server
	if got := asked(s.Handler(), http.MethodPost, here, "Origin: http://evil.example"); got != 403 {
		t.Errorf("a page of an old browser: %d", got)
	}
	for _, c := range []struct {
		from   string
		header string
		want   int
	}{
		{here, "", 204},
		{"[::1]:4000", "Host: localhost:8000", 204},
		{here, "Host: [::1]:8000", 204},
		{there, "", 403},
		{here, "Host: rebound.example:8000", 403},
		{here, "X-Forwarded-For: 127.0.0.1", 403},
		{here, "Forwarded: for=127.0.0.1", 403},
		{here, "Via: 1.1 proxy", 403},
		{here, "X-Real-IP: 192.0.2.7", 403},
		{here, "X-Forwarded-Host: a.example", 403},
		{here, "X-Forwarded-Proto: https", 403},
		{here, "Sec-Fetch-Site: same-site", 403},
		{here, "Sec-Fetch-Site: same-origin", 204},
		{here, "Sec-Fetch-Site: cross-site", 403},
	} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			if got := asked(s.Handler(), method, c.from, c.header); got != c.want {
				t.Errorf("%s from %s with %q: %d, want %d", method, c.from, c.header, got, c.want)
			}
		}
	}
}

// K3: with a token, administrators show it; the key of clients is none, and the token opens
// what the key does.
func TestReportK3AdministratorsShowTheirToken(t *testing.T) {
	withProbe(t)
	const key, token = "Authorization: Bearer key", "Authorization: Bearer token"
	for _, c := range []struct {
		options Options
		from    string
		header  string
		want    int
	}{
		{Options{AdminToken: "token"}, here, "", 401},
		{Options{AdminToken: "token"}, there, token, 204},
		{Options{AdminToken: "token"}, there, "Authorization: Bearer tokens", 401},
		{Options{AdminToken: "token", APIKey: "key"}, here, key, 401},
		{Options{AdminToken: "token", APIKey: "key"}, there, token, 204},
		{Options{APIKey: "key"}, here, "", 401},
		{Options{APIKey: "key"}, here, key, 204},
		{Options{APIKey: "key"}, there, key, 403},
	} {
		s := serveEcho(t, executor.EchoConfig{}, engine.Config{}, c.options).server
		if got := asked(s.Handler(), http.MethodPost, c.from, c.header); got != c.want {
			t.Errorf("%+v from %s with %q: %d, want %d", c.options, c.from, c.header, got, c.want)
		}
	}
	r := serveEcho(t, executor.EchoConfig{}, engine.Config{}, Options{AdminToken: "token", APIKey: "key"})
	for as, want := range map[string]int{"key": 200, "token": 200, "other": 401} {
		if got := r.raw(fmt.Sprintf("GET /v1/models HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %s\r\nConnection: close\r\n\r\n", as)); got != want {
			t.Errorf("models as %s: %d, want %d", as, got, want)
		}
	}
}

// K3: with a listener of their own, the routes of administrators are nowhere else, and
// those of clients not there.
func TestReportK3AdministratorsApart(t *testing.T) {
	withProbe(t)
	s := serveEcho(t, executor.EchoConfig{}, engine.Config{}, Options{AdminApart: true}).server
	if got := asked(s.Handler(), http.MethodPost, here); got != 404 {
		t.Errorf("at the listener of clients: %d", got)
	}
	if got := asked(s.AdminHandler(), http.MethodPost, here); got != 204 {
		t.Errorf("at that of administrators: %d", got)
	}
	for path, want := range map[string]int{"/health": 200, "/version": 200, "/v1/models": 404} {
		w := httptest.NewRecorder()
		s.AdminHandler().ServeHTTP(deadlined{w}, httptest.NewRequest(http.MethodGet, path, nil))
		if w.Code != want {
			t.Errorf("%s of administrators: %d, want %d", path, w.Code, want)
		}
	}
}

// Who is refused is told which header has shown that he is not of this machine, or which key is
// wanted.
func TestAdministratorsAreToldWhy(t *testing.T) {
	withProbe(t)
	s := serveEcho(t, executor.EchoConfig{}, engine.Config{}, Options{}).server
	for header, from := range map[string]string{"X-Forwarded-For: 127.0.0.1": here, "Forwarded: for=a": here, "Via: 1.1 a": here, "Host: evil.example": here,
		"Origin: http://evil.example": here, "Sec-Fetch-Site: cross-site": here, "another address: ": there} {
		name, _, _ := strings.Cut(header, ":")
		if got := probed(s.Handler(), http.MethodPost, from, header).Body.String(); !strings.Contains(got, name) || !strings.Contains(got, "admin_only") {
			t.Errorf("%s: %s", header, got)
		}
	}
	for _, c := range []struct {
		options Options
		code    string
	}{{Options{APIKey: "key", AdminToken: "token", AdminApart: true}, "invalid_admin_token"}, {Options{APIKey: "key", AdminApart: true}, "invalid_api_key"}} {
		if got := probed(serveEcho(t, executor.EchoConfig{}, engine.Config{}, c.options).server.AdminHandler(), http.MethodPost, here).Body.String(); !strings.Contains(got, c.code) {
			t.Errorf("%+v: %s", c.options, got)
		}
	}
}
