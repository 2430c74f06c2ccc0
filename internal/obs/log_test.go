package obs_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/internal/obs"
)

// keys are those of a JSON line in order, repeated ones too.
func keys(t *testing.T, line string) []string {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(line))
	var out []string
	depth, isKey := 0, false
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		switch {
		case token == json.Delim('{'):
			depth, isKey = depth+1, true
			continue
		case token == json.Delim('}'):
			depth--
		case depth == 1 && isKey:
			out = append(out, token.(string))
			isKey = false
			continue
		}
		isKey = depth == 1
	}
}

func TestVerbose(t *testing.T) {
	for verbose, want := range []string{"warn error", "info warn error", "debug info warn error", "debug info warn error"} {
		var out bytes.Buffer
		l := obs.New(&out, verbose, false)
		l.Debug().Msg("x")
		l.Info().Msg("x")
		l.Warn().Msg("x")
		l.Error().Msg("x")
		var levels []string
		for line := range strings.Lines(out.String()) {
			var fields struct{ Level string }
			if err := json.Unmarshal([]byte(line), &fields); err != nil {
				t.Fatal(err)
			}
			levels = append(levels, fields.Level)
		}
		if got := strings.Join(levels, " "); got != want {
			t.Errorf("verbose %d shows %q, want %q", verbose, got, want)
		}
	}
}

func TestConsoleIsNotJSON(t *testing.T) {
	var out bytes.Buffer
	l := obs.New(&out, 0, true)
	l.Warn().Int("slot", 3).Msg("something")
	if s := out.String(); strings.Contains(s, "{") || !strings.Contains(s, "something") || strings.Count(s, "\n") != 1 {
		t.Errorf("%q, want one line for a person", s)
	}
}

// The library has attributes called "message"; zerolog's text has that name too.
func TestSlogKeysAreUnique(t *testing.T) {
	for name, log := range map[string]func(l *slog.Logger){
		"record": func(l *slog.Logger) { l.Warn("text", slog.String("message", "lost"), slog.Int("n", 1)) },
		"with":   func(l *slog.Logger) { l.With("message", "lost").Warn("text", "n", 1) },
	} {
		var out bytes.Buffer
		log(obs.Slog(obs.New(&out, 0, false)))
		seen := map[string]bool{}
		for _, k := range keys(t, out.String()) {
			if seen[k] {
				t.Errorf("%s: key %q twice in %s", name, k, out.String())
			}
			seen[k] = true
		}
		var fields map[string]any
		if err := json.Unmarshal(out.Bytes(), &fields); err != nil {
			t.Fatal(err)
		}
		if fields["message"] != "text" || fields["actor_message"] != "string" || fields["level"] != "warn" || fields["n"] != 1.0 {
			t.Errorf("%s: %v", name, fields)
		}
	}
}

// The library tells of itself only to who wants all.
func TestSlogLowersLevels(t *testing.T) {
	for verbose, want := range []string{"warn", "warn", "debug warn"} {
		var out bytes.Buffer
		l := obs.Slog(obs.New(&out, verbose, false))
		l.Debug("never")
		l.Info("detail")
		l.Warn("warning")
		var levels []string
		for line := range strings.Lines(out.String()) {
			var fields struct{ Level, Message string }
			if err := json.Unmarshal([]byte(line), &fields); err != nil {
				t.Fatal(err)
			}
			levels = append(levels, fields.Level)
		}
		if got := strings.Join(levels, " "); got != want {
			t.Errorf("verbose %d shows %q, want %q", verbose, got, want)
		}
	}
}

// A group's attribute has the group's name, so it cannot clash.
func TestSlogGroup(t *testing.T) {
	var out bytes.Buffer
	obs.Slog(obs.New(&out, 0, false)).WithGroup("g").Warn("text", "n", 2)
	if !strings.Contains(out.String(), `"g.n":2`) {
		t.Errorf("%s", out.String())
	}
}
