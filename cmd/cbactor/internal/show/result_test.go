package show_test

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/cbactor/cbactor/cmd/cbactor/internal/show"
	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/texts"
)

func TestJSONLine(t *testing.T) {
	start := time.Unix(100, 0)
	out := texts.Output{Output: engine.Output{
		RequestID: "a", PromptIDs: []int32{1, 2}, TokenIDs: []int32{3, 0}, FinishReason: engine.FinishStop,
		Usage:  engine.Usage{PromptTokens: 2, CompletionTokens: 2, CachedTokens: 1},
		Timing: engine.Timing{Created: start, First: start.Add(time.Second)},
	}, Text: "<b> & \"é\"\n"}
	var b bytes.Buffer
	j := show.NewJSON(&b)
	entry := show.Entry{ID: "a"}
	for _, e := range []show.Event{
		{Entry: entry},
		{Entry: entry, Tokens: 1, Text: "<b> & \"é\"\u2028"},
		{Entry: entry, Tokens: 1, Result: show.NewResult(out, false)},
		{Entry: entry, Result: show.NewResult(texts.Output{Output: engine.Output{RequestID: "b", FinishReason: engine.FinishFailed, Err: errors.New("no room")}}, false)},
	} {
		if err := j.Event(e); err != nil {
			t.Fatal(err)
		}
	}
	want := `{"request_id":"a","prompt_ids":[1,2],"token_ids":[3,0],"text":"<b> & \"é\"\n","finish_reason":"stop",` +
		`"usage":{"prompt_tokens":2,"completion_tokens":2,"cached_tokens":1}}` + "\n" +
		`{"request_id":"b","prompt_ids":[],"token_ids":[],"text":"","finish_reason":"failed",` +
		`"usage":{"prompt_tokens":0,"completion_tokens":0,"cached_tokens":0},"error":"no room"}` + "\n"
	if b.String() != want {
		t.Errorf("got %s want %s", b.String(), want)
	}
	if r := show.NewResult(out, false); r.FirstToken != time.Second {
		t.Errorf("first token after %v", r.FirstToken)
	}
}

// full is a writer whose disk is full.
type full struct{}

var errFull = errors.New("no space left")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestWriteErrorsAreReported(t *testing.T) {
	end := show.Event{Result: &show.Result{Text: "a", Shown: "a"}}
	if err := show.NewJSON(full{}).Event(end); !errors.Is(err, errFull) {
		t.Errorf("JSON: %v", err)
	}
	if err := show.NewText(full{}, show.TextOptions{}).Event(end); !errors.Is(err, errFull) {
		t.Errorf("text: %v", err)
	}
}
