package engine

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
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

// events reads the trace.
func (f *traceFile) events(t *testing.T) (header trace.Header, list []trace.Event) {
	t.Helper()
	in, err := trace.NewReader(&f.Buffer)
	if err != nil {
		t.Fatal(err)
	}
	for {
		e, err := in.Next()
		if errors.Is(err, io.EOF) {
			return in.Header, list
		}
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, e)
	}
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
	header, events := f.events(t)
	if h := header; h.PageSize != 16 || h.Blocks != 64 || h.Slots != 16 || h.StepTokens != 64 {
		t.Errorf("header %+v", h)
	}
	queued, ended := map[string]int{}, map[string]int{}
	for _, ev := range events {
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

// A trace names the weights that serve, whenever they are others: after an update, a
// way back, and one made between two sessions.
func TestATraceNamesTheWeights(t *testing.T) {
	f := &traceFile{}
	e := spawnTiny(t, Config{Threads: 1, WeightSets: 2, Trace: f})
	greedy(t, e, text(5), 2)
	newTrained(t, 1).update(t, e, "v2", KVKeep)
	if err := e.Rollback(t.Context(), FirstVersion, KVKeep); err != nil {
		t.Fatal(err)
	}
	if err := e.Stop(t.Context(), StopOptions{}); err != nil {
		t.Fatal(err)
	}
	newTrained(t, 2).update(t, e, "v3", KVKeep)
	if err := errors.Join(e.Start(t.Context()), e.Close()); err != nil {
		t.Fatal(err)
	}
	var got []string
	_, events := f.events(t)
	for _, ev := range events {
		if ev.Kind == trace.Weights {
			got = append(got, fmt.Sprint(ev.Epoch, " ", ev.Version))
		}
	}
	if want := []string{"1 default", "2 v2", "3 default", "4 v3"}; !slices.Equal(got, want) {
		t.Errorf("weights are %q, want %q", got, want)
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
