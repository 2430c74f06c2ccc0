package server

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/internal/obs/obstest"
)

// journal keeps what is logged.
type journal struct{ obstest.Journal }

// lines are the lines about a request.
func (j *journal) lines(t *testing.T, id string) (list []object) {
	t.Helper()
	for line := range strings.Lines(j.String()) {
		var o object
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		if o["request"] == id {
			list = append(list, o)
		}
	}
	return list
}

// named sends a call with an id of its own and a key.
func (r *rig) named(id, path string, body any) {
	r.t.Helper()
	req := r.request(r.t.Context(), path, body)
	req.Header.Set("X-Request-Id", id)
	req.Header.Set("Authorization", "Bearer keep-this-key")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer drop(r.t, resp)
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		r.t.Fatal(err)
	}
}

// Each request has one line with what became of it, and never its words or its key.
func TestLog(t *testing.T) {
	j := &journal{}
	r := serveEcho(t, executor.EchoConfig{Blocks: 64, Fail: func(ids []int32) error {
		if ids[0] == 7 {
			return errOnPurpose
		}
		return nil
	}}, engine.Config{MaxQueueSize: 8}, Options{APIKey: "keep-this-key", Log: zerolog.New(j).Level(zerolog.DebugLevel)})
	const words = "hush hush"
	r.named("whole", completionsPath, object{"prompt": words, "n": 2, "max_tokens": 4, "ignore_eos": true})
	r.named("stream", chatPath, object{"messages": say(words), "max_tokens": 3, "ignore_eos": true, "stream": true})
	r.named("bad", completionsPath, object{"prompt": "a", "logit_bias": object{words: 1}})
	r.named("unknown", completionsPath, object{"prompt": "a", "model": words})
	r.named("fails", completionsPath, object{"prompt": []int32{7}})
	r.named("fails-later", completionsPath, object{"prompt": []int32{7}, "stream": true})
	for id, want := range map[string]object{
		"whole":       {"level": "info", "route": completionsPath, "status": 200., "model": "tiny", "completion_tokens": 8., "finish_reasons": map[string]any{"length": 2.}},
		"stream":      {"level": "info", "route": chatPath, "status": 200., "model": "tiny", "completion_tokens": 3., "finish_reasons": object{"length": 1.}},
		"bad":         {"level": "info", "route": completionsPath, "status": 400., "code": "invalid_value"},
		"unknown":     {"level": "info", "route": completionsPath, "status": 404., "code": "model_not_found"},
		"fails":       {"level": "warn", "route": completionsPath, "status": 500., "code": "request_failed", "finish_reasons": object{"failed": 1.}},
		"fails-later": {"level": "info", "route": completionsPath, "status": 200., "code": "request_failed", "finish_reasons": object{"failed": 1.}},
	} {
		r.until("it is told of", func() bool { return len(j.lines(t, id)) > 0 })
		lines := j.lines(t, id)
		if len(lines) != 1 {
			t.Errorf("%s has %d lines: %v", id, len(lines), lines)
		}
		line := lines[0]
		for key, v := range want {
			if !reflect.DeepEqual(line[key], v) {
				t.Errorf("%s has %s %v, want %v", id, key, line[key], v)
			}
		}
		if total, is := line["total_ms"].(float64); !is || total <= 0 {
			t.Errorf("%s took %v ms", id, line["total_ms"])
		}
		if first, is := line["first_token_ms"].(float64); want["status"] == 200. && id != "fails-later" && (!is || first <= 0 || first > line["total_ms"].(float64)) {
			t.Errorf("%s had its first token after %v ms, of %v", id, line["first_token_ms"], line["total_ms"])
		}
		if id == "whole" && !slices.Equal(line["weight_versions"].([]any), []any{"default"}) {
			t.Errorf("weights %v", line["weight_versions"])
		}
		if failed := strings.HasPrefix(id, "fails"); failed != (line["error"] != nil) || failed && !strings.Contains(line["error"].(string), errOnPurpose.Error()) {
			t.Errorf("%s has error %v", id, line["error"])
		}
	}
	if all := j.String(); strings.Contains(all, words) || strings.Contains(all, "keep-this-key") {
		t.Errorf("words or a key of a request are in the log: %s", all)
	}
}

// Who watches the process is told of at the level for details alone.
func TestLogOfWatchers(t *testing.T) {
	j := &journal{}
	r := serveEcho(t, executor.EchoConfig{}, engine.Config{}, Options{Log: zerolog.New(j).Level(zerolog.InfoLevel)})
	r.scrape()
	for _, path := range []string{"/health", "/ready", "/version"} {
		r.get(path, new(any))
	}
	r.until("the last one is told of", func() bool { return strings.Contains(j.String(), "/version") })
	if n := strings.Count(j.String(), "\n"); n != 1 {
		t.Errorf("%d lines: %s", n, j)
	}
}

// The level tells what is wrong here apart from what a client did, and from what is asked all
// the time.
func TestLogLevels(t *testing.T) {
	for _, c := range []struct {
		route  string
		status int
		want   string
	}{
		{"/ready", 200, "debug"}, {"/ready", 401, "info"}, {"/ready", 503, "warn"}, {"/health", 200, "debug"}, {metricsPath, 200, "debug"},
		{completionsPath, 200, "info"}, {completionsPath, 400, "info"}, {completionsPath, 500, "warn"}, {completionsPath, 503, "warn"}, {"", 404, "info"},
	} {
		j := &journal{}
		s := &Server{models: []Model{{Name: "tiny", Engine: measured{}}}, places: make(chan struct{}, 1), log: zerolog.New(j)}
		var err error
		if s.meters, err = s.newMeters(); err != nil {
			t.Fatal(err)
		}
		s.tell(httptest.NewRequest(http.MethodGet, "/", nil), &witness{account: &account{id: "a", route: c.route}, status: c.status})
		if lines := j.lines(t, "a"); len(lines) != 1 || lines[0]["level"] != c.want {
			t.Errorf("%s with status %d: %s", c.route, c.status, j)
		}
	}
}
