package engine

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/internal/trace"
)

// traceFile is a trace in memory.
type traceFile struct {
	bytes.Buffer
	closed int
}

func (f *traceFile) Close() error {
	f.closed++
	return nil
}

// What an engine is asked for is in its trace when it is closed, under its ids.
func TestTraceIsWholeWhenTheEngineIsClosed(t *testing.T) {
	f := &traceFile{}
	e := spawnEcho(t, executor.EchoConfig{Blocks: 64}, Config{Trace: f})
	s := mustAdd(t, e, Request{PromptIDs: ids(9, 1), MaxNewTokens: 5, N: 2})
	s.Wait(t.Context())
	mustAdd(t, e, Request{ID: "open", PromptIDs: ids(9, 1)})
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	in, err := trace.NewReader(&f.Buffer)
	if err != nil {
		t.Fatal(err)
	}
	if h := in.Header; h.PageSize != 16 || h.Blocks != 64 || h.Slots != 16 || h.StepTokens != 64 {
		t.Errorf("header %+v", h)
	}
	queued, ended := map[string]int{}, map[string]int{}
	for {
		ev, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch ev.Kind {
		case trace.Queued:
			queued[ev.ID]++
		case trace.Ended:
			ended[ev.ID]++
		}
	}
	for _, id := range []string{s.ID(), s.ID() + "/1", "open"} {
		if queued[id] != 1 || ended[id] != 1 {
			t.Errorf("%s is queued %d times and ended %d times", id, queued[id], ended[id])
		}
	}
	if f.closed != 1 {
		t.Errorf("closed %d times", f.closed)
	}
}

// A trace stays its owner's when there is no engine.
func TestTraceIsLeftOpenWhenSpawnFails(t *testing.T) {
	f := &traceFile{}
	if _, err := Spawn(t.Context(), Config{Trace: f}); !errors.Is(err, ErrConfig) {
		t.Errorf("without a model: %v", err)
	}
	if f.closed != 0 {
		t.Error("it was closed")
	}
}
