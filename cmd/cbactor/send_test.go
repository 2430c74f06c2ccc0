package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/rs/zerolog"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/weights"
)

// tinyEngine runs the embedded model.
func tinyEngine(t *testing.T) *engine.Engine {
	t.Helper()
	model, err := checkpoint.Open(checkpoint.Embedded)
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.Spawn(t.Context(), engine.Config{Checkpoint: model, NumBlocks: 16, Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(e.Close(), model.Close()); err != nil {
			t.Error(err)
		}
	})
	return e
}

// tinyFolder is the embedded model as a folder.
func tinyFolder(t *testing.T) string {
	t.Helper()
	model, err := checkpoint.Open(checkpoint.Embedded)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "tiny")
	if err := errors.Join(checkpoint.WriteBF16(dir, model), model.Close()); err != nil {
		t.Fatal(err)
	}
	return dir
}

// counter counts what a bar is told.
type counter struct{ bytes, total int64 }

func (c *counter) Add(n int) { c.bytes += int64(n) }

func (c *counter) Close() error { return nil }

func (c *counter) bar(total int64) progress {
	c.total = total
	return c
}

func quiet(string) {}

// Weights that are sent serve under their name, with digests or without.
func TestSend(t *testing.T) {
	e, dir := tinyEngine(t), tinyFolder(t)
	before, same, err := e.Checksum(t.Context(), weights.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	for version, kind := range map[string]weights.DigestKind{"plain": weights.NoDigest, "summed": weights.SHA256} {
		var bar counter
		out, err := send(t.Context(), e, sending{path: dir, version: version, base: before, digest: kind}, bar.bar, quiet)
		if err != nil {
			t.Fatal(err)
		}
		if out.version != version || out.tensors == 0 || bar.bytes != out.bytes || bar.total != out.bytes || e.Version() != version {
			t.Errorf("%s: %+v with %d of %d told, %q serves", version, out, bar.bytes, bar.total, e.Version())
		}
		if _, now, err := e.Checksum(t.Context(), weights.SHA256); err != nil || now != same {
			t.Errorf("%s: %s, %v, want %s", version, now, err, same)
		}
		before = version
	}
	var bar counter
	out, err := send(t.Context(), e, sending{path: dir, version: "over", inPlace: true}, bar.bar, quiet)
	if err != nil {
		t.Fatal(err)
	}
	if bar.bytes != out.bytes || bar.total != out.bytes || e.Version() != "over" || e.Kept() != "" {
		t.Errorf("in place: %+v with %d of %d told, %q serves, %q is kept", out, bar.bytes, bar.total, e.Version(), e.Kept())
	}
	if _, now, err := e.Checksum(t.Context(), weights.SHA256); err != nil || now != same {
		t.Errorf("in place: %s, %v, want %s", now, err, same)
	}
}

// safetensors writes a file of tensors of bytes.
func safetensors(t *testing.T, meta map[string]string, tensors map[string]tensorFile) string {
	t.Helper()
	header, data := map[string]any{"__metadata__": meta}, []byte{}
	for name, f := range tensors {
		header[name] = map[string]any{"dtype": f.dtype, "shape": f.shape, "data_offsets": []int{len(data), len(data) + len(f.data)}}
		data = append(data, f.data...)
	}
	text, err := json.Marshal(header)
	if err != nil {
		t.Fatal(err)
	}
	file := append(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text...)
	path := filepath.Join(t.TempDir(), "part.safetensors")
	if err := os.WriteFile(path, append(file, data...), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

type tensorFile struct {
	dtype string
	shape []int
	data  []byte
}

// A part of the weights replaces some numbers of its base, which the file may name.
func TestSendPart(t *testing.T) {
	e := tinyEngine(t)
	const norm = "model.norm.weight"
	base, _, err := e.Checksum(t.Context(), weights.XXH3_64)
	if err != nil {
		t.Fatal(err)
	}
	held, err := e.Pause(t.Context(), engine.PauseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	old := normOf(t, held, norm)
	if err := held.Release(""); err != nil {
		t.Fatal(err)
	}
	path := safetensors(t, map[string]string{checkpoint.MetaBase: base, checkpoint.MetaVersion: "patched"}, map[string]tensorFile{
		norm + ".indices": {"I32", []int{1}, []byte{1, 0, 0, 0}},
		norm + ".values":  {"BF16", []int{1}, []byte{0x40, 0x40}},
	})
	var bar counter
	if _, err := send(t.Context(), e, sending{path: path, version: "other", base: "nowhere", partial: true}, bar.bar, quiet); !errors.Is(err, weights.ErrVersion) {
		t.Fatalf("over another base: %v", err)
	}
	if _, err := send(t.Context(), e, sending{path: path, partial: true, digest: weights.XXH3_128}, bar.bar, quiet); err != nil {
		t.Fatal(err)
	}
	if held, err = e.Pause(t.Context(), engine.PauseOptions{}); err != nil {
		t.Fatal(err)
	}
	changed := normOf(t, held, norm)
	if err := held.Release(""); err != nil {
		t.Fatal(err)
	}
	want := bytes.Clone(old)
	copy(want[2:], []byte{0x40, 0x40})
	if !bytes.Equal(changed, want) || e.Version() != "patched" {
		t.Errorf("%q serves, with % x, want % x", e.Version(), changed[:8], want[:8])
	}
}

func normOf(t *testing.T, h engine.Hold, name string) []byte {
	t.Helper()
	w, err := h.Weights(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tensor, err := w.Tensor(name)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Clone(tensor.Data)
}

// What cannot be sent leaves the engine as it was, free for the next update.
func TestSendFails(t *testing.T) {
	e, dir := tinyEngine(t), tinyFolder(t)
	part := safetensors(t, map[string]string{}, map[string]tensorFile{"model.norm.weight": {"BF16", []int{1}, []byte{0, 0}}})
	odd := safetensors(t, map[string]string{}, map[string]tensorFile{
		"model.norm.weight.indices": {"I32", []int{1}, []byte{1, 0, 0, 0}},
		"model.norm.weight.values":  {"BF16", []int{1}, []byte{0xc0, 0x7f}},
	})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	late, stop := context.WithCancel(t.Context())
	defer stop()
	was := e.Version()
	for name, c := range map[string]struct {
		ctx  context.Context
		s    sending
		bar  func(int64) progress
		want error // nil: bad usage
	}{
		"no file":              {t.Context(), sending{path: "nowhere", version: "v"}, nil, nil},
		"another kind":         {t.Context(), sending{path: "send_test.go", version: "v"}, nil, nil},
		"no name":              {t.Context(), sending{path: dir}, nil, nil},
		"no base":              {t.Context(), sending{path: part, version: "v", partial: true}, nil, nil},
		"a part for all":       {t.Context(), sending{path: part, version: "v"}, nil, weights.ErrShape},
		"no number":            {t.Context(), sending{path: odd, version: "v", base: was, partial: true}, nil, weights.ErrNotFinite},
		"name that serves":     {t.Context(), sending{path: dir, version: was}, nil, weights.ErrVersion},
		"in place, no number":  {t.Context(), sending{path: odd, version: "v", base: was, partial: true, inPlace: true}, nil, weights.ErrDType},
		"cancelled in place":   {late, sending{path: dir, version: "v", inPlace: true}, func(int64) progress { stop(); return unseen{} }, context.Canceled},
		"cancelled":            {ended, sending{path: dir, version: "v"}, nil, context.Canceled},
		"cancelled on its way": {late, sending{path: dir, version: "v"}, func(int64) progress { stop(); return unseen{} }, context.Canceled},
	} {
		if c.bar == nil {
			c.bar = func(int64) progress { return unseen{} }
		}
		_, err := send(c.ctx, e, c.s, c.bar, quiet)
		usage := errors.As(err, new(usageError))
		if usage != (c.want == nil) || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	if _, err := send(t.Context(), e, sending{path: dir, version: "v"}, func(int64) progress { return unseen{} }, quiet); err != nil || e.Version() != "v" {
		t.Errorf("after failures: %v, %q serves", err, e.Version())
	}
}
