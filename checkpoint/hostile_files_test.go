package checkpoint

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// unzip reads the files of an archive in testdata/hostile.
func unzip(t *testing.T, name string) map[string][]byte {
	t.Helper()
	archive, err := zip.OpenReader("testdata/hostile/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := archive.Close(); err != nil {
			t.Error(err)
		}
	}()
	files := make(map[string][]byte, len(archive.File))
	for _, f := range archive.File {
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if files[f.Name], err = io.ReadAll(in); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// Of the hostile GGUF files (testdata/hostile/make_gguf.py) each is answered as its name says.
func TestHostileGGUF(t *testing.T) {
	files := unzip(t, "gguf.zip")
	if len(files) != 71 {
		t.Errorf("%d files", len(files))
	}
	for name, file := range files {
		read := func() error {
			_, err := readGGUF(bytes.NewReader(file), int64(len(file)))
			return err
		}
		switch {
		case strings.HasPrefix(name, "ok_"):
			if err := read(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		case name == "bad_arch_u32", name == "bad_tokens_u32": // the header is sound, what it says is not
			read = func() error {
				_, err := openGGUF(bytes.NewReader(file), int64(len(file)))
				if err != nil && !strings.Contains(err.Error(), "general.architecture") && !strings.Contains(err.Error(), "tokenizer.ggml.tokens") {
					t.Errorf("%s: %v", name, err)
				}
				return err
			}
		}
		if err := cheaply(t, name, 16<<20, read); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// Of the hostile safetensors files (testdata/hostile/make_safetensors.py) each is answered
// as the format's Rust library does, but that a name that is there twice is refused whatever
// it says.
func TestHostileSafetensors(t *testing.T) {
	files := unzip(t, "safetensors.zip")
	var answers map[string]string
	if err := json.Unmarshal(files["answers.json"], &answers); err != nil {
		t.Fatal(err)
	}
	if len(answers) != 56 {
		t.Errorf("%d answers", len(answers))
	}
	answers["dup_same"] = "err twice"
	files["many"] = manyTensors(200_000)
	if _, err := readSafetensors(bytes.NewReader(files["many"]), int64(len(files["many"]))); !errors.Is(err, ErrFormat) {
		t.Errorf("a model of 200,000 tensors without a number: got %v", err)
	}
	for name, answer := range answers {
		file := files[name]
		read := func() error {
			_, _, err := readHeader(bytes.NewReader(file), int64(len(file)), nil)
			return err
		}
		if strings.HasPrefix(answer, "ok") {
			if err := read(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		} else if err := cheaply(t, name, 1<<20, read); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: got %v, want %s", name, err, answer)
		}
	}
}

// manyTensors is a file of so many empty ones.
func manyTensors(n int) []byte {
	entries := make([]string, n)
	for i := range entries {
		entries[i] = entry(fmt.Sprintf("t%d", i), "F32", "[0]", 0, 0)
	}
	header := "{" + strings.Join(entries, ",") + "}"
	return safetensorsFile(header, uint64(len(header)), nil)
}
