package test

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// ask sends a call to a server that is a process.
func ask(t *testing.T, method, url, key, body string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := resp.Body.Close(); err != nil {
			t.Error(err)
		}
	})
	return resp
}

// A server takes calls when it says that it listens, asks for its key, and at SIGTERM lets
// what is open end.
func TestServeHTTP(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no such signals")
	}
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	server := &serving{}
	url, err := server.begin(command(t, "serve", "--listen", "127.0.0.1:0", "--api-key-file", key, "--model", "tales=tiny", "--model", "more=tiny", "--num-blocks", "64", "--log-level", "info", "--log-format", "json"))
	defer server.stop()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		method, path, key string
		status            int
	}{
		{"GET", "/health", "", 200}, {"GET", "/ready", "secret", 200}, {"GET", "/ready", "", 401}, {"GET", "/v1/models", "secret", 200},
		{"POST", "/v1/completions", "other", 401}, {"POST", "/v1/completions", "secret", 400},
	} {
		if resp := ask(t, c.method, url+c.path, c.key, `{"prompt":"a"}`); resp.StatusCode != c.status {
			t.Errorf("%+v: %d", c, resp.StatusCode)
		}
	}
	if out, err := command(t, "status", "--connect", strings.TrimPrefix(url, "http://")).CombinedOutput(); err == nil || !strings.Contains(string(out), "speaks HTTP: give --connect the address that `cbactor serve --actors` shows") {
		t.Errorf("status of HTTP: %v: %s", err, out)
	}
	open := ask(t, "POST", url+"/v1/completions", "secret", `{"model":"more","prompt":"Once upon","max_tokens":400,"ignore_eos":true,"stream":true}`)
	if err := server.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(open.Body)
	if err != nil || !strings.Contains(string(data), `"finish_reason":"length"`) || !strings.HasSuffix(string(data), "data: [DONE]\n\n") {
		t.Errorf("%v: …%s", err, data[max(0, len(data)-300):])
	}
	select {
	case <-server.read:
	case <-time.After(servingPatience):
		t.Fatalf("it goes on for %v after SIGTERM", servingPatience)
	}
	if err := server.wait(); err != nil {
		t.Errorf("it ended with %v: %s", err, server.stderr.String())
	}
	for _, name := range []string{"tales", "more"} {
		if !strings.Contains(server.stderr.String(), `{"level":"info","model":"`+name+`","mode":"running"`) {
			t.Errorf("the log does not say that %s runs: %s", name, server.stderr.String())
		}
	}
}
