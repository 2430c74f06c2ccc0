package hub

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cbactor/cbactor/internal/hub/hubtest"
)

// A list that stops coming is asked for again.
func TestSilentList(t *testing.T) {
	s, files, dir := hubtest.New(t), aModel(), t.TempDir()
	s.Put(files)
	var asked atomic.Int32
	s.Hook(func(w http.ResponseWriter, r *http.Request, _ bool) bool {
		if !strings.Contains(r.URL.Path, "/tree/") || asked.Add(1) > 1 {
			return false
		}
		if _, err := w.Write([]byte("[")); err == nil && http.NewResponseController(w).Flush() == nil {
			select {
			case <-r.Context().Done():
			case <-time.After(5 * time.Second):
			}
		}
		return true
	})
	if _, _, err := pulled(t.Context(), quick(t, Options{Endpoint: s.URL}), hubtest.Repo, dir); err != nil {
		t.Fatal(err)
	}
	if asked.Load() < 2 {
		t.Error("it was waited for")
	}
	holds(t, dir, files, wanted...)
}

// Bytes that come twice are told of once.
func TestBytesToldOnce(t *testing.T) {
	s, files, dir := hubtest.New(t), aModel(), t.TempDir()
	s.Put(files)
	c := quick(t, Options{Endpoint: s.URL})
	l, err := c.list(t.Context(), mustRef(t, hubtest.Repo))
	if err != nil {
		t.Fatal(err)
	}
	path := partPath(dir, shard, l.files[shard])
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("damaged"), 0o666); err != nil {
		t.Fatal(err)
	}
	r, progress, err := pulled(t.Context(), c, hubtest.Repo, dir)
	if err != nil || progress.bytes.Load() != progress.total || r.Fetched != progress.total {
		t.Errorf("%d bytes were told of %d, %d fetched, %v", progress.bytes.Load(), progress.total, r.Fetched, err)
	}
}

// An address that was redirected to stays out of errors, as it may have a key.
func TestErrorsHaveNoAddresses(t *testing.T) {
	s, dir := hubtest.New(t), t.TempDir()
	s.Put(aModel())
	s.Hook(func(w http.ResponseWriter, r *http.Request, _ bool) bool {
		if strings.Contains(r.URL.Path, "/tree/") {
			http.Redirect(w, r, "http://127.0.0.1:1/x?Signature=secret", http.StatusFound)
			return true
		}
		return false
	})
	_, _, err := pulled(t.Context(), quick(t, Options{Endpoint: s.URL}), hubtest.Repo, dir)
	if err == nil || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "127.0.0.1:1") {
		t.Errorf("error %v", err)
	}
}
