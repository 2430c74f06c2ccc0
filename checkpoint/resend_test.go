package checkpoint

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/cbactor/cbactor/weights"
)

// A file overwrites a set in place, which has it read twice, also when its writer has
// unlinked it in between; bytes that come once leave the old set as it is.
func TestStreamsOverwriteWeights(t *testing.T) {
	_, dir := bf16Folder(t)
	c, path := open(t, dir), filepath.Join(t.TempDir(), "x.safetensors")
	raw, err := os.ReadFile(filepath.Join(dir, singleFile))
	if err != nil {
		t.Fatal(err)
	}
	raw[len(raw)-2] ^= 1 // of the last number
	for _, once := range []bool{false, true} {
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := OpenStream(path)
		if once {
			s, err = ReadStream(bytes.NewReader(raw))
		}
		if err != nil {
			t.Fatal(err)
		}
		store := storeOf(t, c)
		before := store.Current().Digest(weights.SHA256)
		o, err := store.Overwrite("v1", "v2", manifest(s))
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(o.Check(s.Send), os.Remove(path)); err != nil {
			t.Fatal(err)
		}
		_, err = o.Write(s.Send)
		changed := store.Current().Digest(weights.SHA256) != before
		switch {
		case !once && (err != nil || !changed):
			t.Errorf("a file: %v", err)
		case once && (!errors.Is(err, ErrSent) || errors.Is(err, weights.ErrBroken) || changed):
			t.Errorf("bytes that come once: %v, other weights: %t", err, changed)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
