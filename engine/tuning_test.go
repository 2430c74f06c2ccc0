package engine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/cbactor/cbactor/executor/tuning"
	"github.com/cbactor/cbactor/internal/obs/obstest"
)

// The CPU executor tunes as is resolved.
func TestTuningIsWired(t *testing.T) {
	none, largest := tuning.Effort{}, tuning.Effort{Scope: tuning.Largest}
	every, all := tuning.Effort{Scope: tuning.Every}, tuning.Effort{Scope: tuning.Every, Classes: true}
	for _, c := range []struct {
		cfg            Config
		decode, varlen tuning.Effort
	}{
		{Config{}, none, none},
		{Config{DefaultCompileLevel: 1}, largest, largest},
		{Config{DefaultCompileLevel: 2}, every, every},
		{Config{DefaultCompileLevel: 3}, all, all},
		{Config{DefaultCompileLevel: 3, VarlenCompileConfig: &Compile{Mode: "none"}}, all, none},
		{Config{DecodeCompileConfig: &Compile{Mode: "reduce-overhead"}}, tuning.Effort{Scope: tuning.Largest, Classes: true}, none},
		{Config{VarlenCompileConfig: &Compile{Mode: "max-autotune", Dynamic: true}}, none, every},
	} {
		c.cfg.Checkpoint = tiny(t)
		r, err := resolve(c.cfg, plenty)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.cpu.Tune; got.Decode != c.decode || got.Varlen != c.varlen {
			t.Errorf("level %d: tunes %+v and %+v, want %+v and %+v", c.cfg.DefaultCompileLevel, got.Decode, got.Varlen, c.decode, c.varlen)
		}
		if got := r.Tuning(); (got == "none") != (c.decode == none && c.varlen == none) {
			t.Errorf("level %d: tuning is %q", c.cfg.DefaultCompileLevel, got)
		}
	}
}

// tuneTiny starts an engine that tunes for decoding, whose cache is a folder, and answers
// what it logged.
func tuneTiny(t *testing.T, dir string, c *Compile) string {
	t.Helper()
	t.Setenv("CBACTOR_CACHE", dir)
	var log obstest.Journal
	e, err := Spawn(t.Context(), Config{Checkpoint: tiny(t), Threads: 1, DecodeCompileConfig: c, Log: zerolog.New(&log)})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Stop(t.Context(), StopOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := e.Start(t.Context()); err != nil { // tunes again: what the first session measured is known
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	return log.String()
}

// tuningFiles are what a cache has of figures.
func tuningFiles(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "tuning", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestTuningIsKept over sessions and engines; a broken file is replaced.
func TestTuningIsKept(t *testing.T) {
	dir, c := t.TempDir(), &Compile{Mode: "default", Dynamic: true}
	measured, known := `"measured":4,"known":0`, `"measured":0,"known":4`
	log := tuneTiny(t, dir, c)
	if strings.Count(log, measured) != 1 || strings.Count(log, known) != 1 || strings.Contains(log, "warn") {
		t.Errorf("two sessions log %s", log)
	}
	files := tuningFiles(t, dir)
	if len(files) != 1 {
		t.Fatalf("files are %q, want one", files)
	}
	if log := tuneTiny(t, dir, c); strings.Count(log, known) != 2 || strings.Contains(log, measured) {
		t.Errorf("another engine logs %s", log)
	}
	if err := os.WriteFile(files[0], []byte(`{"version":`), 0o600); err != nil {
		t.Fatal(err)
	}
	if log := tuneTiny(t, dir, c); strings.Count(log, measured) != 1 || strings.Contains(log, "warn") {
		t.Errorf("with a broken file it logs %s", log)
	}
	if log := tuneTiny(t, dir, c); strings.Contains(log, measured) {
		t.Errorf("behind a broken file it logs %s", log)
	}
}

// TestTuningOfAGPUIsKept keeps the figures of a GPU in a file that is not the CPU's.
func TestTuningOfAGPUIsKept(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("CBACTOR_CACHE", dir)
	for _, want := range []string{`"measured":2,"known":0`, `"measured":0,"known":2`} {
		var log obstest.Journal
		e, _ := spawnOnGPU(t, func(c *Config) {
			c.Log, c.DecodeCompileConfig = zerolog.New(&log), &Compile{Mode: "default", Dynamic: true}
		})
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		if strings.Count(log.String(), want) != 1 || strings.Contains(log.String(), "measure again") {
			t.Errorf("want %s, it logs %s", want, log.String())
		}
	}
	if files := tuningFiles(t, dir); len(files) != 1 || strings.HasPrefix(filepath.Base(files[0]), "linux") {
		t.Errorf("files are %q", files)
	}
}

// TestTuningCannotBeKept is told once, and stops nothing.
func TestTuningCannotBeKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	log := tuneTiny(t, dir, &Compile{Mode: "default", Dynamic: true})
	if strings.Count(log, "has to measure again") != 1 || strings.Count(log, `"measured":0,"known":4`) != 1 {
		t.Errorf("it logs %s", log)
	}
}

// TestUntuned measures nothing and leaves no file.
func TestUntuned(t *testing.T) {
	dir := t.TempDir()
	if log := tuneTiny(t, dir, nil); strings.Contains(log, "tuned") || len(tuningFiles(t, dir)) > 0 {
		t.Errorf("it logs %s and leaves %q", log, tuningFiles(t, dir))
	}
}
