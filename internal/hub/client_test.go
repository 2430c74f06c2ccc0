package hub

import (
	"errors"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/cbactor/cbactor/internal/hubcache"
)

func mustRef(t *testing.T, name string) hubcache.Ref {
	t.Helper()
	ref, ok := hubcache.ParseRef(name)
	if !ok {
		t.Fatalf("%q is no name", name)
	}
	return ref
}

func TestEndpoint(t *testing.T) {
	for _, bad := range []string{"localhost", "ftp://host", "https://", "https://user:word@host", "https://host?x", "http://[::1"} {
		if _, err := New(Options{Endpoint: bad}); !errors.Is(err, ErrEndpoint) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if _, err := New(Options{Token: "a\nb"}); !errors.Is(err, ErrEndpoint) {
		t.Errorf("a token with a line end: %v", err)
	}
	c, err := New(Options{Endpoint: "https://mirror.example/hub/"})
	if err != nil {
		t.Fatal(err)
	}
	want := "https://mirror.example/hub/api/models/a/b/revision/refs%2Fpr%2F1"
	if got := c.address("api", "models", "a", "b", "revision", "refs/pr/1").String(); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if c, err = New(Options{}); err != nil || c.endpoint.String() != DefaultEndpoint {
		t.Errorf("by default: %v, %v", c, err)
	}
}

// Who redirects from https to http is not followed.
func TestDowngrade(t *testing.T) {
	c, err := New(Options{Token: "t"})
	if err != nil {
		t.Fatal(err)
	}
	at := func(s string) *http.Request {
		u, err := url.Parse(s)
		if err != nil {
			t.Fatal(err)
		}
		return &http.Request{URL: u, Header: http.Header{"Authorization": {"Bearer t"}}}
	}
	via := []*http.Request{at(DefaultEndpoint)}
	if err := c.redirect(at("http://huggingface.co/x"), via); !errors.Is(err, ErrAnswer) {
		t.Errorf("to http: %v", err)
	}
	for _, host := range []string{"https://cdn.huggingface.co/x", "https://huggingface.co:444/x", "https://other.example/x"} {
		req := at(host)
		if err := c.redirect(req, via); err != nil || req.Header.Get("Authorization") != "" {
			t.Errorf("%s: %v, %v", host, err, req.Header)
		}
	}
	req := at(DefaultEndpoint + "/moved")
	if err := c.redirect(req, via); err != nil || req.Header.Get("Authorization") == "" {
		t.Errorf("within the hub: %v, %v", err, req.Header)
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"": 0, "7": 7 * time.Second, "-1": 0, "soon": 0, "99999999999999999999": 0,
		"Fri, 02 Jan 2026 03:04:35 GMT": 30 * time.Second, "Fri, 02 Jan 2026 03:04:00 GMT": 0,
	} {
		r := &http.Response{Header: http.Header{"Retry-After": {value}}}
		if got := retryAfter(r, now); got != want {
			t.Errorf("%q: %v, want %v", value, got, want)
		}
	}
}

// The digest of git is that of `git hash-object`.
func TestGitDigest(t *testing.T) {
	h := newHasher(hubcache.File{Size: 12, Digest: gitDigest})
	h.Write([]byte("hello world\n"))
	if got := h.digest(); got != "git:3b18e512dba79e4c8300dd08aeb37f8e728b8dad" {
		t.Error(got)
	}
}
