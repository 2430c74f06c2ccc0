package engine

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/executor"
)

// The numbers are those of what was done, and outlast sessions.
func TestMetricsCount(t *testing.T) {
	e := spawnEcho(t, executor.EchoConfig{Blocks: 64}, Config{})
	prompt := make([]int32, 40)
	r := Request{PromptIDs: prompt, MaxNewTokens: 5, IgnoreEOS: true}
	for range 2 { // the second finds what the first has left
		if _, err := e.GenerateBatch(t.Context(), []Request{r}, BatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	r.N = 3
	if _, err := e.GenerateBatch(t.Context(), []Request{r}, BatchOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := e.AddRequest(t.Context(), Request{}); !errors.Is(err, ErrEmptyPrompt) {
		t.Fatal(err)
	}
	until(t, "all blocks are free", func() bool { return e.Metrics().BlocksFree == 64 }) // a message behind the last end
	m := e.Metrics()
	if m.Accepted != 5 || m.Ended[FinishLength] != 5 || m.Open != 0 || m.Running != 0 || m.Waiting != 0 || m.InLine != 0 {
		t.Errorf("sequences: %+v", m)
	}
	if m.PromptTokens != 120 || m.GeneratedTokens != 25 || m.CachedTokens != 64 || m.Steps < 15 {
		t.Errorf("tokens: %+v, want 120 of prompts, 64 of them cached, 25 generated", m)
	}
	if m.Blocks != 64 || m.BlocksFree != 64 || m.Mode != "running" || m.Version != FirstVersion {
		t.Errorf("what is now: %+v", m)
	}
	text, err := json.Marshal(m)
	if err != nil || !strings.Contains(string(text), `"sequences_ended":{"aborted":0,`) {
		t.Errorf("%s (%v)", text, err)
	}
	h := pause(t, e, PauseOptions{}) // so that it has not ended before it is cancelled
	s := mustAdd(t, e, Request{ID: "a", PromptIDs: prompt, IgnoreEOS: true})
	e.Cancel("a")
	s.Wait(t.Context())
	release(t, h)
	if err := e.Stop(t.Context(), StopOptions{}); err != nil {
		t.Fatal(err)
	}
	if m := e.Metrics(); m.Ended[FinishCancelled] != 1 || m.Accepted != 6 || m.Mode != "stopped" {
		t.Errorf("after a stop: %+v", m)
	}
}
