package hub

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cbactor/cbactor/internal/hub/hubtest"
	"github.com/cbactor/cbactor/internal/hubcache"
)

// noise is n bytes that look like weights.
func noise(n int, seed uint64) []byte {
	source := rand.New(rand.NewPCG(seed, 0))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(source.Uint32())
	}
	return b
}

// arrived waits until a part in a folder has so many bytes: what was sent has been read. It gives
// up in the end.
func arrived(dir string, bytes int64) {
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		parts, err := os.ReadDir(filepath.Join(dir, partsDir))
		for _, part := range parts {
			if info, failed := part.Info(); err == nil && failed == nil && info.Size() == bytes {
				return
			}
		}
	}
}

// aModel are the files of a model in two shards, and others that it does not need.
func aModel() map[string][]byte {
	return map[string][]byte{
		"config.json": []byte(`{"model_type":"llama"}`), "tokenizer.json": noise(5000, 1), "tokenizer_config.json": []byte("{}"),
		"model.safetensors.index.json": []byte(`{"weight_map":{"a":"model-00001-of-00002.safetensors","b":"model-00002-of-00002.safetensors"}}`), "model-00001-of-00002.safetensors": noise(30_000, 2),
		"model-00002-of-00002.safetensors": noise(20_000, 3), "pytorch_model.bin": noise(2000, 4), "onnx/model.onnx": noise(100, 5),
		"original/consolidated-1-of-2.safetensors": noise(50, 6), "README.md": []byte("# A model\n"), ".gitattributes": []byte("x"),
		"empty": {},
	}
}

// quick is a client that does not wait long.
func quick(t *testing.T, o Options) *Client {
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	c.firstWait, c.stall = time.Millisecond, 300*time.Millisecond
	t.Cleanup(c.http.CloseIdleConnections)
	return c
}

// counted is progress that is counted.
type counted struct {
	total  int64
	bytes  atomic.Int64
	closed bool
}

func (c *counted) Add(n int) { c.bytes.Add(int64(n)) }

func (c *counted) Close() error {
	c.closed = true
	return nil
}

// pulled pulls, and gives what came of it.
func pulled(ctx context.Context, c *Client, name, dir string, include ...string) (Result, *counted, error) {
	progress := &counted{}
	ref, ok := hubcache.ParseRef(name)
	if !ok {
		return Result{}, progress, errors.New("no name")
	}
	r, err := c.Pull(ctx, Request{Ref: ref, Include: include, Dir: dir, Begin: func(n int64) Progress {
		progress.total = n
		return progress
	}})
	return r, progress, err
}

// holds checks that a folder has these files of files and no others.
func holds(t *testing.T, dir string, files map[string][]byte, names ...string) {
	t.Helper()
	var found []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(rel)
		if strings.HasPrefix(name, hubcache.Prefix) {
			if name != hubcache.Prefix+"hub.json" && name != hubcache.Prefix+"lock" {
				t.Errorf("%s was left", name)
			}
			return nil
		}
		data, err := os.ReadFile(path)
		if !bytes.Equal(data, files[name]) {
			t.Errorf("%s has other bytes", name)
		}
		found = append(found, name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(found)
	slices.Sort(names)
	if !slices.Equal(found, names) {
		t.Errorf("%v are there, want %v", found, names)
	}
}

var wanted = []string{"config.json", "tokenizer.json", "tokenizer_config.json", "model.safetensors.index.json", "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors", "README.md"}

func TestPullWhatAModelNeeds(t *testing.T) {
	s, files, dir := hubtest.New(t), aModel(), t.TempDir()
	s.Put(files)
	s.Pages(5)
	c := quick(t, Options{Endpoint: s.URL + "/"})
	r, progress, err := pulled(t.Context(), c, hubtest.Repo, dir)
	if err != nil {
		t.Fatal(err)
	}
	holds(t, dir, files, wanted...)
	size := int64(0)
	for _, n := range wanted {
		size += int64(len(files[n]))
	}
	if r.Bytes != size || r.Fetched != size || progress.total != size || progress.bytes.Load() != size || !progress.closed {
		t.Errorf("%d bytes, %d fetched, told %d of %d, want %d", r.Bytes, r.Fetched, progress.bytes.Load(), progress.total, size)
	}
	// Another pull asks for the list alone.
	s.Requests()
	if r, _, err = pulled(t.Context(), c, hubtest.Repo, dir); err != nil || r.Fetched != 0 {
		t.Errorf("again: %d bytes, %v", r.Fetched, err)
	}
	for _, q := range s.Requests() {
		if strings.Contains(q.Path, "/resolve/") {
			t.Errorf("%s was fetched again", q.Path)
		}
	}
}

func TestChoose(t *testing.T) {
	ggufs := map[string][]byte{"a-Q8_0.gguf": noise(10, 1), "a-Q4_K_M.gguf": noise(11, 2), "README.md": noise(3, 3)}
	single := map[string][]byte{"config.json": noise(3, 1), "model.safetensors": noise(4, 2), "other.safetensors": noise(4, 2), "a.gguf": noise(3, 3)}
	for name, x := range map[string]struct {
		files   map[string][]byte
		ref     string
		include []string
		want    []string
		err     error
	}{
		"one file of tensors":   {files: single, ref: hubtest.Repo, want: []string{"config.json", "model.safetensors"}},
		"a file":                {files: single, ref: hubtest.Repo + ":a.gguf", want: []string{"a.gguf"}},
		"patterns":              {files: aModel(), ref: hubtest.Repo, include: []string{"*.json", "onnx/*"}, want: []string{"config.json", "tokenizer.json", "tokenizer_config.json", "model.safetensors.index.json", "onnx/model.onnx"}},
		"a pattern for nothing": {files: aModel(), ref: hubtest.Repo, include: []string{"*.json", "*.gguf"}, err: ErrChoice},
		"no pattern":            {files: aModel(), ref: hubtest.Repo, include: []string{"[a"}, err: ErrChoice},
		"a quantisation":        {files: ggufs, ref: hubtest.Repo + ":q4_k_m", want: []string{"a-Q4_K_M.gguf"}},
		"several GGUF files":    {files: ggufs, ref: hubtest.Repo, err: ErrChoice},
		"no such file":          {files: ggufs, ref: hubtest.Repo + ":Q5_0", err: ErrChoice},
		"one GGUF file":         {files: map[string][]byte{"a.gguf": noise(4000, 1), "README.md": noise(3, 3)}, ref: hubtest.Repo, want: []string{"a.gguf"}},
		"no model":              {files: map[string][]byte{"pytorch_model.bin": noise(3, 1)}, ref: hubtest.Repo, err: ErrChoice},
		"alike":                 {files: map[string][]byte{"A.json": noise(3, 1), "a.json": noise(4, 2)}, ref: hubtest.Repo, include: []string{"*.json"}, err: ErrChoice},
		"no such revision":      {files: single, ref: hubtest.Repo + "@v9", err: ErrNotFound},
		"no such repository":    {files: single, ref: "some/other", err: ErrNotFound},
		"no such file by name":  {files: single, ref: hubtest.Repo + ":b.gguf", err: ErrChoice},
		"an empty file":         {files: aModel(), ref: hubtest.Repo + ":empty", want: []string{"empty"}},
		"a file in a folder":    {files: aModel(), ref: hubtest.Repo + ":onnx/model.onnx", want: []string{"onnx/model.onnx"}},
	} {
		t.Run(name, func(t *testing.T) {
			s, dir := hubtest.New(t), t.TempDir()
			s.Put(x.files)
			_, _, err := pulled(t.Context(), quick(t, Options{Endpoint: s.URL}), x.ref, dir, x.include...)
			if !errors.Is(err, x.err) {
				t.Fatalf("error %v, want %v", err, x.err)
			}
			holds(t, dir, x.files, x.want...)
		})
	}
}

// A pull that is cut off goes on where it was, with ranges, also in a new process.
func TestResume(t *testing.T) {
	s, files, dir := hubtest.New(t), aModel(), t.TempDir()
	s.Put(files)
	const big = "model-00001-of-00002.safetensors"
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("gone")
	s.Hook(func(w http.ResponseWriter, r *http.Request, cdn bool) bool {
		if !cdn || !strings.HasSuffix(r.URL.Path, big) {
			return false
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(files[big])))
		_, err := w.Write(files[big][:12_000])
		if err == nil {
			err = http.NewResponseController(w).Flush()
		}
		arrived(dir, 12_000)
		cancel(gone)
		return err == nil
	})
	c := quick(t, Options{Endpoint: s.URL})
	c.stall = time.Minute // the first answer is held until its bytes are there
	if _, _, err := pulled(ctx, c, hubtest.Repo, dir); !errors.Is(err, gone) {
		t.Fatalf("interrupted: %v", err)
	}
	cache, ref := t.TempDir(), hubcache.Ref{Org: "a", Name: "b", Revision: "main"}
	if err := os.MkdirAll(filepath.Dir(ref.Dir(cache)), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(dir, ref.Dir(cache)); err != nil {
		t.Fatal(err)
	}
	dir = ref.Dir(cache)
	if _, err := hubcache.Find(cache, ref); !errors.Is(err, hubcache.ErrPartial) {
		t.Errorf("a part is found as %v", err)
	}
	s.Hook(nil)
	s.Requests()
	_, progress, err := pulled(t.Context(), quick(t, Options{Endpoint: s.URL}), hubtest.Repo, dir)
	if err != nil {
		t.Fatal(err)
	}
	holds(t, dir, files, wanted...)
	if progress.bytes.Load() != progress.total {
		t.Errorf("%d of %d bytes were told", progress.bytes.Load(), progress.total)
	}
	ranged := false
	for _, q := range s.Requests() {
		ranged = ranged || strings.HasSuffix(q.Path, big) && q.Range == "bytes=12000-"
	}
	if !ranged {
		t.Error("what was there was fetched again")
	}
	if found, err := hubcache.Find(cache, ref); err != nil || found != dir {
		t.Errorf("the whole is found as %q, %v", found, err)
	}
}

// What has changed between two tries is not mixed with what is there.
func TestChangedBetweenTries(t *testing.T) {
	s, files, dir := hubtest.New(t), aModel(), t.TempDir()
	s.Put(files)
	const big = "model-00001-of-00002.safetensors"
	c := quick(t, Options{Endpoint: s.URL})
	s.Hook(func(w http.ResponseWriter, r *http.Request, cdn bool) bool {
		if cdn && strings.HasSuffix(r.URL.Path, big) {
			if _, err := w.Write(files[big][:5000]); err != nil {
				t.Error(err)
			}
			return true
		}
		return false
	})
	if _, _, err := pulled(t.Context(), c, hubtest.Repo, dir); err == nil {
		t.Fatal("a part is taken for the whole")
	}
	s.Hook(nil)
	changed := maps.Clone(files)
	changed[big], changed["config.json"] = noise(30_000, 77), []byte(`{"model_type":"other"}`)
	changed["README.md"] = nil
	s.Put(changed)
	if _, _, err := pulled(t.Context(), c, hubtest.Repo, dir); err != nil {
		t.Fatal(err)
	}
	holds(t, dir, changed, slices.DeleteFunc(slices.Clone(wanted), func(n string) bool { return n == "README.md" })...)
	// The old commit is a revision of its own, in one file.
	if _, _, err := pulled(t.Context(), c, hubtest.Repo, dir); err != nil {
		t.Error(err)
	}
}

// A folder that has become one with a single file of tensors has no index of old shards.
func TestOldFilesGo(t *testing.T) {
	s, dir := hubtest.New(t), t.TempDir()
	s.Put(aModel())
	c := quick(t, Options{Endpoint: s.URL})
	if _, _, err := pulled(t.Context(), c, hubtest.Repo, dir); err != nil {
		t.Fatal(err)
	}
	now := map[string][]byte{"config.json": []byte("{}"), "model.safetensors": noise(999, 1)}
	for name := range aModel() {
		if now[name] == nil {
			now[name] = nil
		}
	}
	s.Put(now)
	if _, _, err := pulled(t.Context(), c, hubtest.Repo, dir); err != nil {
		t.Fatal(err)
	}
	holds(t, dir, now, "config.json", "model.safetensors")
}

func TestFilesOfOthersStay(t *testing.T) {
	s, files, dir := hubtest.New(t), aModel(), t.TempDir()
	s.Put(files)
	mine := []byte(`{"model_type":"mine."}`)
	if err := os.WriteFile(filepath.Join(dir, "config.json"), mine, 0o666); err != nil {
		t.Fatal(err)
	}
	c := quick(t, Options{Endpoint: s.URL})
	if _, _, err := pulled(t.Context(), c, hubtest.Repo, dir); !errors.Is(err, ErrTaken) || !strings.Contains(err.Error(), "config.json") {
		t.Errorf("a file of another: %v", err)
	}
	holds(t, dir, map[string][]byte{"config.json": mine}, "config.json")
	// One that is the same is taken over.
	if err := os.WriteFile(filepath.Join(dir, "config.json"), files["config.json"], 0o666); err != nil {
		t.Fatal(err)
	}
	if _, _, err := pulled(t.Context(), c, hubtest.Repo, dir); err != nil {
		t.Error(err)
	}
	holds(t, dir, files, wanted...)
}

func TestTwoPullsAtOnce(t *testing.T) {
	s, dir := hubtest.New(t), t.TempDir()
	s.Put(aModel())
	unlock, err := lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	c := quick(t, Options{Endpoint: s.URL})
	if _, _, err := pulled(t.Context(), c, hubtest.Repo, dir); !errors.Is(err, ErrBusy) {
		t.Errorf("beside another: %v", err)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := pulled(t.Context(), c, hubtest.Repo, dir); err != nil {
		t.Errorf("behind it: %v", err)
	}
}
