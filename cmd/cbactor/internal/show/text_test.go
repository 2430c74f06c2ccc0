package show_test

import (
	"strings"
	"testing"

	"github.com/cbactor/cbactor/cmd/cbactor/internal/show"
	"github.com/cbactor/cbactor/engine"
)

// written is what a Text writes of events.
func written(t *testing.T, o show.TextOptions, events ...show.Event) string {
	t.Helper()
	var b strings.Builder
	text := show.NewText(&b, o)
	for _, e := range events {
		if err := text.Event(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := text.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func begin(index int, id string) show.Event {
	return show.Event{Entry: show.Entry{Index: index, ID: id, Lead: "Once"}}
}

func end(index int, id, text string) show.Event {
	return show.Event{Entry: show.Entry{Index: index, ID: id, Lead: "Once"}, Tokens: 1, Result: &show.Result{RequestID: id, Shown: text}}
}

func TestTextOrder(t *testing.T) {
	events := []show.Event{begin(0, "a"), begin(1, "b"), end(1, "b", " two\n"), begin(2, "c"), end(2, "c", " three"), end(0, "a", " one")}
	a, b, c := "==> a <==\n one\n\n", "==> b <==\n two\n\n", "==> c <==\n three\n\n"
	if got := written(t, show.TextOptions{Ordered: true}, events...); got != a+b+c {
		t.Errorf("ordered: %q", got)
	}
	if got := written(t, show.TextOptions{}, events...); got != b+c+a {
		t.Errorf("as they end: %q", got)
	}
}

// A request that failed before it had any text takes no room, and holds up nobody.
func TestTextOfRefusedRequests(t *testing.T) {
	refused := end(0, "a", "")
	refused.Result.FinishReason = engine.FinishFailed
	broken := end(2, "c", " three")
	broken.Result.FinishReason = engine.FinishFailed
	for _, o := range []show.TextOptions{{Ordered: true}, {}} {
		if got := written(t, o, refused, end(1, "b", " two"), broken); got != "==> b <==\n two\n\n==> c (failed) <==\n three\n\n" {
			t.Errorf("%+v: %q", o, got)
		}
	}
}

// The head of a text is one line, and says if the text is not whole.
func TestTextMarks(t *testing.T) {
	for want, r := range map[string]show.Result{
		"a":               {FinishReason: engine.FinishStop, Usage: engine.Usage{CompletionTokens: 3}},
		"b":               {FinishReason: engine.FinishLength, Usage: engine.Usage{CompletionTokens: 9}},
		"c (cut short)":   {FinishReason: engine.FinishLength, Usage: engine.Usage{CompletionTokens: 8}},
		"d (out of time)": {FinishReason: engine.FinishDeadline},
		"e (cancelled)":   {FinishReason: engine.FinishCancelled},
		"f (aborted)":     {FinishReason: engine.FinishAborted},
		"g (stale)":       {FinishReason: engine.FinishStale},
		"\"\\n==> x\"":    {FinishReason: engine.FinishStop},
	} {
		id := want[:1]
		if id == "\"" {
			id = "\n==> x"
		}
		r.Shown = "text"
		event := show.Event{Entry: show.Entry{ID: id, MaxNew: 9}, Result: &r}
		if got := written(t, show.TextOptions{}, event); got != "==> "+want+" <==\ntext\n\n" {
			t.Errorf("%q, want %s", got, want)
		}
	}
}

func TestTextStream(t *testing.T) {
	entry := show.Entry{ID: "a", Lead: "Once\a"}
	events := []show.Event{{Entry: entry}, {Entry: entry, Tokens: 2, Text: " upon\x1b[2J"}, {Entry: entry, Tokens: 1, Text: " a", Result: &show.Result{Shown: " upon\x1b[2J a"}}}
	if got := written(t, show.TextOptions{Stream: true}, events...); got != " upon\x1b[2J a\n" {
		t.Errorf("to a file: %q", got)
	}
	t.Setenv("NO_COLOR", "")
	if got := written(t, show.TextOptions{Stream: true, Terminal: true}, events...); got != "\x1b[2mOnce\ufffd\x1b[0m upon\ufffd[2J a\n" {
		t.Errorf("to a terminal: %q", got)
	}
	t.Setenv("NO_COLOR", "1")
	if got := written(t, show.TextOptions{Stream: true, Terminal: true}, events...); got != "Once\ufffd upon\ufffd[2J a\n" {
		t.Errorf("to a terminal without colours: %q", got)
	}
	refused := show.Event{Entry: entry, Result: &show.Result{Error: "no"}}
	if got := written(t, show.TextOptions{Stream: true, Terminal: true}, events[0], refused); got != "" {
		t.Errorf("refused: %q", got)
	}
	ends := show.Event{Entry: entry, Tokens: 1, Text: "a\n"}
	if got := written(t, show.TextOptions{Stream: true}, ends); got != "a\n" {
		t.Errorf("with a line end: %q", got)
	}
}
