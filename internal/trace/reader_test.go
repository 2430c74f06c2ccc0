package trace

import (
	"errors"
	"strings"
	"testing"
)

const header = `{"cbactor_trace":1,"start":"2026-01-02T03:04:05Z","page_size":16}` + "\n"

// What is no event says so, without the words of a JSON reader.
func TestLinesThatAreNoEvents(t *testing.T) {
	for text, want := range map[string]string{
		header + header:                  "line 2 begins another trace",
		header + "{}\n":                  "line 2 is no event",
		header + `{"event":3}` + "\nx\n": "line 2 is no event",
	} {
		in, err := NewReader(strings.NewReader(text))
		if err == nil {
			_, err = in.Next()
		}
		if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "json") {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestIs(t *testing.T) {
	for head, want := range map[string]bool{
		header: true, header + "{": true, `{"cbactor_trace":2}` + "\n": true,
		"": false, "\n": false, "{}\n": false, `{"prompt":"a"}` + "\n": false, strings.TrimSpace(header): false, "text": false,
	} {
		if got := Is([]byte(head)); got != want {
			t.Errorf("%q: %t", head, got)
		}
	}
}
