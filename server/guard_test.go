package server

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/executor"
)

// raw sends bytes on a connection of its own and gives the status.
func (r *rig) raw(request string) int {
	r.t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	if err != nil {
		r.t.Fatal(err)
	}
	defer func() {
		if err := c.Close(); err != nil {
			r.t.Error(err)
		}
	}()
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		r.t.Fatal(err)
	}
	if _, err := c.Write([]byte(request)); err != nil {
		r.t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		r.t.Fatal(err)
	}
	defer drop(r.t, resp)
	return resp.StatusCode
}

// K3: with a key, every path in every spelling asks for it, but the two that are open.
func TestReportK3EveryRouteAsksForTheKey(t *testing.T) {
	r := serveEcho(t, executor.EchoConfig{}, engine.Config{}, Options{APIKey: "secret"})
	ask := func(method, path, key string) int {
		header := ""
		if key != "" {
			header = "Authorization: " + key + "\r\n"
		}
		return r.raw(fmt.Sprintf("%s %s HTTP/1.1\r\nHost: a\r\n%sContent-Length: 0\r\nConnection: close\r\n\r\n", method, path, header))
	}
	for _, route := range slices.Concat(routes, adminRoutes) {
		path := strings.ReplaceAll(route.path, "{id...}", "tiny")
		isOpen := path == "/health" || path == "/version"
		if got := ask(route.method, path, ""); (got == 401) == isOpen {
			t.Errorf("%s %s without a key: %d", route.method, path, got)
		}
		if got := ask(route.method, path, "Bearer secret"); got == 401 {
			t.Errorf("%s %s with the key: %d", route.method, path, got)
		}
	}
	for _, key := range []string{"Bearer secre", "Bearer secrets", "Bearer", "Basic secret", "secret", "Bearer  secret"} {
		if got := ask("GET", "/v1/models", key); got != 401 {
			t.Errorf("%q: %d", key, got)
		}
	}
	for _, path := range []string{"//v1/models", "/V1/models", "/v1/models/", "/v1/../v1/models", "/v1/%6dodels", "http://a/v1/models", "/health/../v1/models", "//health",
		"/health/", "/health/x", "/HEALTH", "/%2e%2e/v1/models", "/nowhere", "*"} {
		for _, method := range []string{"GET", "HEAD", "OPTIONS", "POST", "DELETE"} {
			if got := ask(method, path, ""); got != 401 && !(path == "*" && got == 400) && !(path == "*" && method == "OPTIONS" && got == 200) {
				t.Errorf("%s %s without a key: %d", method, path, got)
			}
		}
	}
	for _, path := range []string{"/health?x=/v1/models", "/%68ealth"} { // spelled otherwise, and the same
		if got := ask("GET", path, ""); got != 200 {
			t.Errorf("%s: %d", path, got)
		}
	}
}

// A pause is no illness, and an engine that does not run is one.
func TestHealth(t *testing.T) {
	r := serveEcho(t, executor.EchoConfig{}, engine.Config{}, Options{Version: "cbactor 1"})
	check := func(path string, status int, says string) {
		t.Helper()
		var c condition
		if got := r.get(path, &c); got != status || c.Status != says || len(c.Models) != 1 {
			t.Errorf("%s: %d %+v, want %d %s", path, got, c, status, says)
		}
	}
	check("/health", 200, "ok")
	check("/ready", 200, "ok")
	hold, err := r.engine.Pause(t.Context(), engine.PauseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	check("/health", 200, "paused")
	check("/ready", 200, "paused")
	if err := hold.Release(""); err != nil {
		t.Fatal(err)
	}
	if err := r.engine.Stop(t.Context(), engine.StopOptions{Keep: true}); err != nil {
		t.Fatal(err)
	}
	check("/health", 503, "stopped")
	check("/ready", 503, "stopped")
	r.refused(completionsPath, object{"prompt": "a"}, 503, "", "engine_not_running")
	var v struct{ Version string }
	if status := r.get("/version", &v); status != 200 || v.Version != "cbactor 1" {
		t.Errorf("%d %+v", status, v)
	}
}
