package trace

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/internal/jsonl"
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

func TestReaderRefusesWhatIsNoTrace(t *testing.T) {
	for text, want := range map[string]string{
		"":                            "empty",
		"{}\n":                        "no header",
		"plain text\n":                "no header",
		"[1]\n":                       "no header",
		`{"cbactor_trace":2}` + "\n":  "version 2",
		`{"cbactor_trace":-1}` + "\n": "version -1",
	} {
		_, err := NewReader(strings.NewReader(text))
		if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestReaderLeavesATornLineOutButNoBadOne(t *testing.T) {
	const head, good = `{"cbactor_trace":1}` + "\n", `{"us":5,"event":"chunk"}`
	for _, c := range []struct {
		text   string
		events int
		torn   bool
		bad    string
	}{
		{good + "\n" + good + "\n", 2, false, ""},
		{good + "\n" + good, 2, false, ""}, // only the line's end is missing
		{good + "\n" + good[:9], 1, true, ""},
		{good + "\n" + good[:9] + "\n", 1, false, "line 3"},
		{good + "\n\n" + good + "\n", 1, false, "line 3"},
		{`{"us":"late"}` + "\n", 0, false, "line 2"},
		{strings.Repeat(" ", jsonl.MaxLine+1), 0, false, "line 2 has more than 64 MiB"},
	} {
		r, err := NewReader(strings.NewReader(head + c.text))
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for err == nil {
			if _, err = r.Next(); err == nil {
				n++
			}
		}
		switch {
		case c.bad == "" && !errors.Is(err, io.EOF), c.bad != "" && (!errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), c.bad)):
			t.Errorf("%.40q ended with %v", c.text, err)
		case n != c.events || r.Torn() != c.torn:
			t.Errorf("%.40q has %d events, torn %v", c.text, n, r.Torn())
		}
	}
}
