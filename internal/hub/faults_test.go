package hub

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cbactor/cbactor/internal/hub/hubtest"
)

const shard = "model-00001-of-00002.safetensors"

// The token goes to the hub, and not to where its redirects lead.
func TestToken(t *testing.T) {
	s, dir := hubtest.New(t), t.TempDir()
	s.Put(aModel())
	s.Private("hf_secret")
	for _, token := range []string{"", "hf_wrong"} {
		_, _, err := pulled(t.Context(), quick(t, Options{Endpoint: s.URL, Token: token}), hubtest.Repo, dir)
		if !errors.Is(err, ErrDenied) || !strings.Contains(err.Error(), "HF_TOKEN") || strings.Contains(err.Error(), "hf_") {
			t.Errorf("token %q: %v", token, err)
		}
	}
	s.Requests()
	if _, _, err := pulled(t.Context(), quick(t, Options{Endpoint: s.URL, Token: "hf_secret"}), hubtest.Repo, dir); err != nil {
		t.Fatal(err)
	}
	elsewhere := 0
	for _, q := range s.Requests() {
		if q.Host == strings.TrimPrefix(s.CDN, "http://") {
			elsewhere++
			if q.Authorization != "" {
				t.Errorf("%s was told the token", q.Path)
			}
		}
	}
	if elsewhere == 0 {
		t.Error("nothing was redirected")
	}
}

// What fails for a while is tried again, and what stays is said at once.
func TestStatuses(t *testing.T) {
	for name, x := range map[string]struct {
		status, times int
		header        http.Header
		want          error
		atLeast       time.Duration
	}{
		"too many":           {status: 429, times: 2, header: http.Header{"Retry-After": {"1"}}, atLeast: 2 * time.Second},
		"too many for long":  {status: 429, times: 99, header: http.Header{"Retry-After": {"3600"}}, want: ErrUnavailable},
		"broken for a while": {status: 503, times: 4},
		"broken":             {status: 500, times: 99, want: ErrUnavailable},
		"gated":              {status: 403, times: 1, header: http.Header{"X-Error-Code": {"GatedRepo"}, "X-Error-Message": {"ask first"}}, want: ErrDenied},
		"forbidden":          {status: 403, times: 1, want: ErrDenied},
		"gone":               {status: 404, times: 1, want: ErrNotFound},
		"strange":            {status: 418, times: 1, want: ErrAnswer},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, files, dir := hubtest.New(t), aModel(), t.TempDir()
			s.Put(files)
			var asked atomic.Int32
			s.Hook(func(w http.ResponseWriter, r *http.Request, cdn bool) bool {
				if cdn || !strings.HasSuffix(r.URL.Path, shard) || int(asked.Add(1)) > x.times {
					return false
				}
				for k, v := range x.header {
					w.Header()[k] = v
				}
				w.WriteHeader(x.status)
				return true
			})
			start := time.Now()
			_, _, err := pulled(t.Context(), quick(t, Options{Endpoint: s.URL}), hubtest.Repo, dir)
			if !errors.Is(err, x.want) {
				t.Fatalf("error %v, want %v", err, x.want)
			}
			if err != nil && strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Errorf("the error has control characters: %q", err)
			}
			if took := time.Since(start); took < x.atLeast {
				t.Errorf("it was asked again after %v", took)
			}
			if x.want == nil {
				holds(t, dir, files, wanted...)
			}
		})
	}
}

// Connections that break, and those that are silent, are gone on with.
func TestBrokenConnections(t *testing.T) {
	for name, fault := range map[string]func(w http.ResponseWriter, r *http.Request){
		"cut": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"silent": func(_ http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, files, dir := hubtest.New(t), aModel(), t.TempDir()
			s.Put(files)
			var asked atomic.Int32
			s.Hook(func(w http.ResponseWriter, r *http.Request, cdn bool) bool {
				if !cdn || !strings.HasSuffix(r.URL.Path, shard) || asked.Add(1) > 8 {
					return false
				}
				var from int
				if _, err := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-", &from); err == nil {
					w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, len(files[shard])-1, len(files[shard])))
					w.WriteHeader(http.StatusPartialContent)
				}
				if _, err := w.Write(files[shard][from : from+3000]); err == nil && http.NewResponseController(w).Flush() == nil {
					arrived(dir, int64(from)+3000)
				}
				fault(w, r)
				return true
			})
			if _, _, err := pulled(t.Context(), quick(t, Options{Endpoint: s.URL}), hubtest.Repo, dir); err != nil {
				t.Fatal(err)
			}
			holds(t, dir, files, wanted...)
		})
	}
}

// What comes and is not what was listed is not taken.
func TestWrongBytes(t *testing.T) {
	other := noise(30_000, 99)
	for name, x := range map[string]struct {
		answer func(w http.ResponseWriter, r *http.Request) error
		want   error
	}{
		"another digest": {want: ErrDigest, answer: func(w http.ResponseWriter, _ *http.Request) error {
			_, err := w.Write(other)
			return err
		}},
		"too long": {want: ErrAnswer, answer: func(w http.ResponseWriter, _ *http.Request) error {
			_, err := w.Write(append(noise(30_000, 2), 1))
			return err
		}},
		"too long, without a length": {want: ErrAnswer, answer: func(w http.ResponseWriter, _ *http.Request) error {
			for range 40 {
				if _, err := w.Write(noise(1000, 2)); err != nil {
					return nil
				}
				if err := http.NewResponseController(w).Flush(); err != nil {
					return nil
				}
			}
			return nil
		}},
		"too short": {want: ErrAnswer, answer: func(w http.ResponseWriter, _ *http.Request) error {
			w.Header().Set("Content-Length", "100")
			_, err := w.Write(other[:100])
			return err
		}},
		"another range": {want: ErrAnswer, answer: func(w http.ResponseWriter, _ *http.Request) error {
			w.Header().Set("Content-Range", "bytes 5-104/30000")
			w.WriteHeader(http.StatusPartialContent)
			_, err := w.Write(other[:100])
			return err
		}},
		"no range at all": {want: ErrAnswer, answer: func(w http.ResponseWriter, _ *http.Request) error {
			w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
			return nil
		}},
		"redirects without end": {want: ErrAnswer, answer: func(w http.ResponseWriter, r *http.Request) error {
			http.Redirect(w, r, r.URL.String(), http.StatusFound)
			return nil
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s, dir := hubtest.New(t), t.TempDir()
			s.Put(aModel())
			s.Hook(func(w http.ResponseWriter, r *http.Request, cdn bool) bool {
				if !cdn || !strings.HasSuffix(r.URL.Path, shard) {
					return false
				}
				if err := x.answer(w, r); err != nil {
					t.Error(err)
				}
				return true
			})
			c := quick(t, Options{Endpoint: s.URL})
			_, _, err := pulled(t.Context(), c, hubtest.Repo, dir)
			if !errors.Is(err, x.want) {
				t.Errorf("error %v, want %v", err, x.want)
			}
			if _, err := os.Stat(filepath.Join(dir, shard)); err == nil {
				t.Error("it is there all the same")
			}
			s.Hook(nil)
			if _, _, err := pulled(t.Context(), c, hubtest.Repo, dir); err != nil {
				t.Errorf("then: %v", err)
			}
		})
	}
}

// A part that was damaged on the disk is found out and fetched again.
func TestDamagedPart(t *testing.T) {
	s, files, dir := hubtest.New(t), aModel(), t.TempDir()
	s.Put(files)
	c := quick(t, Options{Endpoint: s.URL})
	l, err := c.list(t.Context(), mustRef(t, hubtest.Repo))
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range [][]byte{[]byte("damaged"), bytes.Repeat([]byte{1}, len(files[shard])), bytes.Repeat([]byte{1}, len(files[shard])+9)} {
		path := partPath(dir, shard, l.files[shard])
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, bad, 0o666), os.RemoveAll(filepath.Join(dir, shard))); err != nil {
			t.Fatal(err)
		}
		if _, _, err := pulled(t.Context(), c, hubtest.Repo, dir); err != nil {
			t.Fatal(err)
		}
		holds(t, dir, files, wanted...)
	}
}

// Lists that a hub does not send.
func TestHostileLists(t *testing.T) {
	oid, sum := strings.Repeat("0", 40), strings.Repeat("0", 64)
	file := func(path string, size int, oid string) map[string]any {
		return map[string]any{"type": "file", "path": path, "size": size, "oid": oid}
	}
	large := func(oid string, size int) map[string]any {
		f := file("model.safetensors", 5, sum[:40])
		f["lfs"] = map[string]any{"oid": oid, "size": size}
		return f
	}
	for name, x := range map[string]struct {
		list any
		want error
	}{
		"outside":         {[]any{file("../config.json", 1, oid)}, ErrAnswer},
		"at the root":     {[]any{file("/etc/passwd", 1, oid)}, ErrAnswer},
		"with a backlash": {[]any{file(`..\config.json`, 1, oid)}, ErrAnswer},
		"our own":         {[]any{file(".cbactor-hub.json", 1, oid)}, ErrAnswer},
		"twice":           {[]any{file("config.json", 1, oid), file("config.json", 1, oid)}, ErrAnswer},
		"less than none":  {[]any{file("config.json", -1, oid)}, ErrAnswer},
		"no digest":       {[]any{file("config.json", 1, "")}, ErrAnswer},
		"another digest":  {[]any{file("config.json", 1, "../../x")}, ErrAnswer},
		"no SHA-256":      {[]any{large("zz", 5)}, ErrAnswer},
		"too large":       {[]any{large(sum, 1<<60)}, ErrAnswer},
		"no room":         {[]any{large(sum, 1<<45)}, ErrSpace},
		"no list":         {map[string]any{"error": "x"}, ErrAnswer},
	} {
		t.Run(name, func(t *testing.T) {
			s, dir := hubtest.New(t), t.TempDir()
			s.Put(aModel())
			s.Hook(func(w http.ResponseWriter, r *http.Request, _ bool) bool {
				if !strings.Contains(r.URL.Path, "/tree/") {
					return false
				}
				if err := json.NewEncoder(w).Encode(x.list); err != nil {
					t.Error(err)
				}
				return true
			})
			_, _, err := pulled(t.Context(), quick(t, Options{Endpoint: s.URL}), hubtest.Repo, dir)
			if !errors.Is(err, x.want) {
				t.Errorf("error %v, want %v", err, x.want)
			}
			holds(t, dir, nil)
		})
	}
}

// A list that goes on elsewhere, or for ever, ends.
func TestHostilePages(t *testing.T) {
	for name, link := range map[string]string{
		"elsewhere":    `<http://127.0.0.1:1/x>; rel="next"`,
		"for ever":     `</api/models/someone/model/tree/x>; rel="next"`,
		"another type": `<file:///etc/passwd>; rel="next"`,
	} {
		s, dir := hubtest.New(t), t.TempDir()
		s.Put(aModel())
		s.Hook(func(w http.ResponseWriter, r *http.Request, _ bool) bool {
			if !strings.Contains(r.URL.Path, "/tree/") {
				return false
			}
			w.Header().Set("Link", link)
			if _, err := w.Write([]byte("[]")); err != nil {
				t.Error(err)
			}
			return true
		})
		if _, _, err := pulled(t.Context(), quick(t, Options{Endpoint: s.URL}), hubtest.Repo, dir); !errors.Is(err, ErrAnswer) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
