package checkpoint

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/cbactor/cbactor/weights"
)

// manifest is that of a stream, as who owns the store makes it.
func manifest(s *Stream) weights.Manifest {
	var m weights.Manifest
	for _, t := range s.Tensors() {
		m.Tensors = append(m.Tensors, weights.Entry{Name: t.Name, DType: t.DType, Shape: t.Shape})
	}
	m.Partial = s.Metadata["sparse"] == "true"
	return m
}

// storeOf serves a checkpoint as "v1".
func storeOf(t *testing.T, c *Checkpoint) *weights.Store {
	t.Helper()
	set, err := weights.Load(c.Config, c, 1, "v1")
	if err != nil {
		t.Fatal(err)
	}
	store, err := weights.NewStore(c.Config, set, weights.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// update sends a stream into a store and commits it as "v2".
func update(store *weights.Store, s *Stream) (*weights.Set, error) {
	u, err := store.Begin("v1", "v2", manifest(s))
	if err != nil {
		return nil, err
	}
	if err := s.Send(u.Put); err != nil {
		u.Abort()
		return nil, err
	}
	return u.Commit()
}

// bf16Folder is a checkpoint in bf16 of a model that is served in blocks of four bits.
func bf16Folder(t *testing.T) (c *Checkpoint, dir string) {
	t.Helper()
	c = open(t, "testdata/llama-q4_1.gguf")
	dir = filepath.Join(t.TempDir(), "bf16")
	if err := WriteBF16(dir, c); err != nil {
		t.Fatal(err)
	}
	return c, dir
}

// A folder, its file and the file's bytes all become the set that Load makes of the
// folder, over a base of four bits, also when the writer unlinks them meanwhile.
func TestStreamsUpdateWeights(t *testing.T) {
	c, dir := bf16Folder(t)
	folder := open(t, dir)
	loaded, err := weights.Load(folder.Config, folder, 1, "")
	if err != nil {
		t.Fatal(err)
	}
	want := loaded.Digest(weights.SHA256)
	raw, err := os.ReadFile(filepath.Join(dir, singleFile))
	if err != nil {
		t.Fatal(err)
	}
	for name, make := range map[string]func() (*Stream, error){
		"folder": func() (*Stream, error) { return OpenStream(dir) },
		"file":   func() (*Stream, error) { return OpenStream(filepath.Join(dir, singleFile)) },
		"bytes":  func() (*Stream, error) { return ReadStream(iotest.HalfReader(bytes.NewReader(raw))) },
		"unlinked": func() (*Stream, error) {
			path := filepath.Join(t.TempDir(), "x.safetensors")
			if err := os.WriteFile(path, raw, 0o600); err != nil {
				return nil, err
			}
			s, err := OpenStream(path)
			if err == nil {
				err = os.Remove(path)
			}
			return s, err
		},
	} {
		s, err := make()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		set, err := update(storeOf(t, c), s)
		if err != nil || set.Digest(weights.SHA256) != want {
			t.Errorf("%s: %v", name, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A file that is cut while it is read is an error, and the old weights stand.
func TestStreamOfShrinkingFile(t *testing.T) {
	c, dir := bf16Folder(t)
	path := filepath.Join(dir, singleFile)
	s, err := OpenStream(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, info.Size()-100); err != nil {
		t.Fatal(err)
	}
	store := storeOf(t, c)
	before := store.Current().Digest(weights.SHA256)
	if _, err := update(store, s); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "ends") {
		t.Errorf("got %v", err)
	}
	if store.Current().Epoch != 1 || store.Current().Digest(weights.SHA256) != before {
		t.Error("the old weights changed")
	}
	if _, err := OpenStream(path); !errors.Is(err, ErrFormat) {
		t.Errorf("opened when it was cut: got %v", err)
	}
}

// A sparse file says so in its metadata.
func TestStreamOfSparseUpdate(t *testing.T) {
	c, dir := bf16Folder(t)
	store := storeOf(t, open(t, dir))
	name := "model.norm.weight"
	header := `{"__metadata__":{"sparse":"true","base_version":"v1"},` +
		entry(name+".indices", "I32", "[2]", 0, 8) + "," + entry(name+".values", "BF16", "[2]", 8, 12) + "}"
	file := safetensorsFile(header, uint64(len(header)), []byte{1, 0, 0, 0, 3, 0, 0, 0, 0x80, 0x3f, 0x00, 0x40})
	s, err := ReadStream(bytes.NewReader(file))
	if err != nil || s.Metadata["base_version"] != "v1" {
		t.Fatalf("%v, %v", s, err)
	}
	old, _ := store.Current().Tensor(name)
	want := make([]float32, c.Config.Hidden)
	old.Row(want, 0)
	want[1], want[3] = 1, 2
	set, err := update(store, s)
	if err != nil {
		t.Fatal(err)
	}
	got := make([]float32, len(want))
	now, _ := set.Tensor(name)
	now.Row(got, 0)
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("number %d: got %g, want %g", i, got[i], want[i])
		}
	}
}

// What is wrong with a file is wrong with its bytes, as far as their length is part
// of the header.
func TestReadStreamRefuses(t *testing.T) {
	ignore := func(string, string, []int, int, []byte) error { return nil }
	for name, file := range hostileSafetensors() {
		err := cheaply(t, name, 3<<20, func() error {
			s, err := ReadStream(bytes.NewReader(file))
			if err != nil {
				return err
			}
			return s.Send(ignore)
		})
		if !errors.Is(err, ErrFormat) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	header := "{" + entry("a", "F32", "[8]", 0, 32) + "," + entry("b", "BF16", "[16]", 32, 64) + "}"
	good := safetensorsFile(header, uint64(len(header)), make([]byte, 64))
	for n := range len(good) + 2 {
		data := append(bytes.Clone(good), 0)[:min(n, len(good)+1)]
		s, err := ReadStream(bytes.NewReader(data))
		if err == nil {
			err = s.Send(ignore)
		}
		if errors.Is(err, ErrFormat) != (n != len(good)) {
			t.Errorf("%d bytes of %d: got %v", n, len(good), err)
		}
	}
}

// Terabytes that a header claims cost nothing, and are refused by the model's shapes.
func TestReadStreamClaims(t *testing.T) {
	header := "{" + entry("model.norm.weight", "F32", "[1099511627776]", 0, 1<<42) + "}"
	s, err := ReadStream(io.MultiReader(strings.NewReader(string(binary.LittleEndian.AppendUint64(nil, uint64(len(header))))+header), neverRead{t}))
	if err != nil {
		t.Fatal(err)
	}
	store := storeOf(t, open(t, "testdata/llama-q4_1.gguf"))
	err = cheaply(t, "claims", 1<<20, func() error {
		_, err := update(store, s)
		return err
	})
	if !errors.Is(err, weights.ErrShape) {
		t.Errorf("got %v", err)
	}
}

type neverRead struct{ t *testing.T }

func (r neverRead) Read([]byte) (int, error) {
	r.t.Error("the data was read")
	return 0, io.EOF
}

// Errors of the reader and of who takes the tensors end the stream, and are told.
func TestSendEnds(t *testing.T) {
	header := "{" + entry("a", "F32", "[8]", 0, 32) + "}"
	head := safetensorsFile(header, uint64(len(header)), make([]byte, 16))
	broken := errors.New("line is down")
	s, err := ReadStream(io.MultiReader(bytes.NewReader(head), iotest.ErrReader(broken)))
	if err != nil {
		t.Fatal(err)
	}
	refused := errors.New("no")
	put := func(string, string, []int, int, []byte) error { return refused }
	if err := s.Send(put); !errors.Is(err, broken) || !strings.Contains(err.Error(), `"a"`) {
		t.Errorf("got %v", err)
	}
	if s, err = ReadStream(bytes.NewReader(append(head, make([]byte, 16)...))); err != nil {
		t.Fatal(err)
	}
	if err := s.Send(put); !errors.Is(err, refused) {
		t.Errorf("got %v", err)
	}
}

func TestOpenStreamRefuses(t *testing.T) {
	c, dir := bf16Folder(t)
	const shard = "all.safetensors"
	if err := os.Rename(filepath.Join(dir, singleFile), filepath.Join(dir, shard)); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tensor := range c.Tensors() {
		names = append(names, `"`+tensor.Name+`":"`+shard+`"`)
	}
	for says, index := range map[string]string{
		"does not place": `{"weight_map":{"model.norm.weight":"` + shard + `"}}`,
		`"extra"`:        `{"weight_map":{"extra":"` + shard + `",` + strings.Join(names, ",") + "}}",
	} {
		if err := os.WriteFile(filepath.Join(dir, indexFile), []byte(index), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenStream(dir); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), says) {
			t.Errorf("an index that %s: got %v", says, err)
		}
	}
	for _, file := range []string{indexFile, shard} {
		if err := os.Remove(filepath.Join(dir, file)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := OpenStream(dir); !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), singleFile) {
		t.Errorf("no tensors: got %v", err)
	}
	if _, err := OpenStream(filepath.Join(dir, "x")); !errors.Is(err, ErrNotFound) {
		t.Errorf("nothing there: got %v", err)
	}
}
