package show

import (
	"fmt"
	"io"
	"strings"

	"github.com/cbactor/cbactor/engine"
)

// TextOptions say how texts are written.
type TextOptions struct {
	Stream   bool // there is one request: its text is written as it comes
	Ordered  bool // texts come in the order in which requests began, else as they end
	Terminal bool // the reader is a person: prompts are shown, control characters are not
}

// Text writes the texts of requests, each under its id when there may be several.
type Text struct {
	w    io.Writer
	o    TextOptions
	next int           // Ordered: the index to be written next
	held map[int]Event // Ordered: ended, waiting for that one
	led  bool          // Stream: the prompt is shown
	last byte          // Stream: the last byte written
}

// NewText writes to w.
func NewText(w io.Writer, o TextOptions) *Text {
	return &Text{w: w, o: o, held: map[int]Event{}}
}

// Event implements Sink.
func (t *Text) Event(e Event) error {
	switch {
	case t.o.Stream:
		return t.stream(e)
	case e.Result == nil:
		return nil
	case !t.o.Ordered:
		return t.write(t.block(e))
	}
	t.held[e.Entry.Index] = e
	for {
		e, ok := t.held[t.next]
		if !ok {
			return nil
		}
		delete(t.held, t.next)
		t.next++
		if err := t.write(t.block(e)); err != nil {
			return err
		}
	}
}

func (t *Text) stream(e Event) error {
	text := t.shown(e.Text)
	if e.Tokens > 0 && !t.led {
		t.led = true
		text = t.lead(e) + text
	}
	return t.write(text)
}

// block is the text of an ended request under its id; "" for one that never came to
// any, whose error is shown elsewhere.
func (t *Text) block(e Event) string {
	r := e.Result
	if r.Shown == "" && (r.FinishReason == engine.FinishFailed || r.FinishReason == engine.FinishCancelled) {
		return ""
	}
	text := t.lead(e) + t.shown(r.Shown)
	return fmt.Sprintf("==> %s%s <==\n%s\n\n", Quoted(e.Entry.ID), mark(e), strings.TrimRight(text, "\n"))
}

// mark says of a text that it is not all of what there would be.
func mark(e Event) string {
	switch e.Result.FinishReason {
	case engine.FinishFailed:
		return " (failed)"
	case engine.FinishCancelled:
		return " (cancelled)"
	case engine.FinishDeadline:
		return " (out of time)"
	case engine.FinishAborted:
		return " (aborted)"
	case engine.FinishStale:
		return " (stale)"
	}
	if cut(e.Entry, e.Result) {
		return " (cut short)"
	}
	return ""
}

// cut says whether the context or the cache has ended a text before its own limit.
func cut(e Entry, r *Result) bool {
	return r.FinishReason == engine.FinishLength && r.Usage.CompletionTokens < e.MaxNew
}

func (t *Text) lead(e Event) string {
	if !t.o.Terminal || e.Entry.Lead == "" {
		return ""
	}
	return dim(Printable(e.Entry.Lead))
}

func (t *Text) shown(s string) string {
	if t.o.Terminal {
		return Printable(s)
	}
	return s
}

func (t *Text) write(s string) error {
	if s == "" {
		return nil
	}
	t.last = s[len(s)-1]
	if _, err := io.WriteString(t.w, s); err != nil {
		return fmt.Errorf("write text: %w", err)
	}
	return nil
}

// Close implements Sink: it ends the last line.
func (t *Text) Close() error {
	if !t.o.Stream || t.last == 0 || t.last == '\n' {
		return nil
	}
	return t.write("\n")
}
