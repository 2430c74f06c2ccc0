package hubtest

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Repo is the repository that a Server has.
const Repo = "someone/model"

// Server is a hub with one repository.
type Server struct {
	URL string // of the hub
	CDN string // of the other port

	mu       sync.Mutex
	files    map[string][]byte            // of the newest commit
	commits  map[string]map[string][]byte // all that were
	large    int
	page     int
	token    string
	hook     Hook
	requests []Request
}

// Request is what the server was asked.
type Request struct {
	Host, Path, Range, Authorization string
}

// Hook answers a request itself if it gives true. The path has the name of a file at
// its end; cdn says whether it came to the other port.
type Hook func(w http.ResponseWriter, r *http.Request, cdn bool) bool

// New starts a server that ends with a test.
func New(t testing.TB) *Server {
	s, stop := Start()
	t.Cleanup(stop)
	return s
}

// Start starts a server without files, until stop is called. Those of 1,000 bytes and
// more are large.
func Start() (s *Server, stop func()) {
	s = &Server{files: map[string][]byte{}, commits: map[string]map[string][]byte{}, large: 1000, page: 1000}
	hub, cdn := httptest.NewServer(s.noting(false, s.serveHub)), httptest.NewServer(s.noting(true, s.serveCDN))
	s.URL, s.CDN = hub.URL, cdn.URL
	return s, func() {
		hub.Close()
		cdn.Close()
	}
}

// Put adds files, which makes a new commit. nil takes one away.
func (s *Server) Put(files map[string][]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files = maps.Clone(s.files)
	for name, data := range files {
		if s.files[name] = data; data == nil {
			delete(s.files, name)
		}
	}
	s.commits[s.commit()] = s.files
}

// commit is the name of the newest commit.
func (s *Server) commit() string {
	h := sha1.New()
	for _, name := range slices.Sorted(maps.Keys(s.files)) {
		fmt.Fprintf(h, "%s %x\n", name, sha256.Sum256(s.files[name]))
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// Pages sets how many files a page of a list has.
func (s *Server) Pages(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.page = n
}

// Private makes the hub ask for a token.
func (s *Server) Private(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.token = token
}

// Hook puts a hook before what the server does; nil takes it away.
func (s *Server) Hook(h Hook) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hook = h
}

// Requests are those since the last call.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.requests
	s.requests = nil
	return r
}

// noting is a handler behind the hook.
func (s *Server) noting(cdn bool, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.requests = append(s.requests, Request{r.Host, r.URL.Path, r.Header.Get("Range"), r.Header.Get("Authorization")})
		hook, token := s.hook, s.token
		s.mu.Unlock()
		if hook != nil && hook(w, r, cdn) {
			return
		}
		if !cdn && token != "" && r.Header.Get("Authorization") != "Bearer "+token {
			w.Header().Set("X-Error-Code", "RepoNotFound")
			w.Header().Set("X-Error-Message", "Invalid username or password.")
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		next(w, r)
	}
}

// serveHub answers the routes of the hub.
func (s *Server) serveHub(w http.ResponseWriter, r *http.Request) {
	api := "/api/models/" + Repo + "/"
	path := r.URL.Path
	switch {
	case strings.HasPrefix(path, api+"revision/"):
		s.revision(w, strings.TrimPrefix(path, api+"revision/"))
	case strings.HasPrefix(path, api+"tree/"):
		s.tree(w, r, strings.TrimPrefix(path, api+"tree/"))
	case strings.HasPrefix(path, "/"+Repo+"/resolve/"):
		commit, name, _ := strings.Cut(strings.TrimPrefix(path, "/"+Repo+"/resolve/"), "/")
		s.resolve(w, r, commit, name)
	default:
		missing(w, "RepoNotFound")
	}
}

func missing(w http.ResponseWriter, code string) {
	w.Header().Set("X-Error-Code", code)
	w.WriteHeader(http.StatusNotFound)
}

// revision tells the commit of main, or of a commit.
func (s *Server) revision(w http.ResponseWriter, name string) {
	s.mu.Lock()
	commit := s.commit()
	_, old := s.commits[name]
	s.mu.Unlock()
	if old {
		commit = name
	} else if name != "main" {
		missing(w, "RevisionNotFound")
		return
	}
	answer(w, map[string]any{"id": Repo, "sha": commit})
}

// tree tells a page of the files of a commit.
func (s *Server) tree(w http.ResponseWriter, r *http.Request, commit string) {
	s.mu.Lock()
	files, page := s.commits[commit], s.page
	s.mu.Unlock()
	names := slices.Sorted(maps.Keys(files))
	from, err := strconv.Atoi(r.URL.Query().Get("cursor"))
	if err != nil {
		from = 0 // the first page has no cursor
	}
	to := min(len(names), from+page)
	list := []any{map[string]any{"type": "directory", "path": "folder", "oid": strings.Repeat("0", 40), "size": 0}}
	for _, name := range names[min(from, to):to] {
		list = append(list, s.entry(name, files[name]))
	}
	if to < len(names) {
		next := url.Values{"recursive": {"true"}, "cursor": {strconv.Itoa(to)}}
		w.Header().Set("Link", fmt.Sprintf(`<%s%s?%s>; rel="next"`, s.URL, r.URL.Path, next.Encode()))
	}
	answer(w, list)
}

// entry is a file as a list has it.
func (s *Server) entry(name string, data []byte) map[string]any {
	pointer := data
	e := map[string]any{"type": "file", "path": name, "size": len(data)}
	if len(data) >= s.large {
		sum := fmt.Sprintf("%x", sha256.Sum256(data))
		pointer = fmt.Appendf(nil, "version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize %d\n", sum, len(data))
		e["lfs"] = map[string]any{"oid": sum, "size": len(data), "pointerSize": len(pointer)}
	}
	e["oid"] = fmt.Sprintf("%x", sha1.Sum(append(fmt.Appendf(nil, "blob %d\x00", len(pointer)), pointer...)))
	return e
}

// resolve gives a file, or says where it is.
func (s *Server) resolve(w http.ResponseWriter, r *http.Request, commit, name string) {
	s.mu.Lock()
	data, ok := s.commits[commit][name]
	s.mu.Unlock()
	switch {
	case !ok:
		missing(w, "EntryNotFound")
	case len(data) >= s.large:
		sum := fmt.Sprintf("%x", sha256.Sum256(data))
		w.Header().Set("X-Linked-Etag", strconv.Quote(sum))
		http.Redirect(w, r, s.CDN+"/"+commit+"/"+(&url.URL{Path: name}).EscapedPath(), http.StatusFound)
	default:
		http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(data))
	}
}

// serveCDN gives a large file.
func (s *Server) serveCDN(w http.ResponseWriter, r *http.Request) {
	commit, name, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	s.mu.Lock()
	data, ok := s.commits[commit][name]
	s.mu.Unlock()
	if !ok {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(data))
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(v); err != nil {
		panic(http.ErrAbortHandler) // who asked has gone
	}
}
