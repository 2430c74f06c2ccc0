package engine

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/executor"
)

// Once Stop has returned nothing is accepted, also while the session goes on, and with
// nobody waiting for its end.
func TestNothingIsAcceptedAfterStop(t *testing.T) {
	for _, hard := range []bool{false, true} {
		e := spawnEcho(t, executor.EchoConfig{Blocks: 64, Delay: slowly}, Config{})
		for round := range 20 {
			open := mustAdd(t, e, Request{PromptIDs: ids(5, 1), MaxNewTokens: 20})
			if err := e.Stop(t.Context(), StopOptions{Hard: hard, Keep: true, Async: true}); err != nil {
				t.Fatal(err)
			}
			for range 10 {
				if _, err := e.AddRequest(t.Context(), Request{PromptIDs: ids(5, 2), MaxNewTokens: 2}); !errors.Is(err, ErrUnavailable) {
					t.Fatalf("hard %t, round %d: %v", hard, round, err)
				}
			}
			if out := open.Wait(t.Context()); !hard && out.FinishReason != FinishLength {
				t.Errorf("what was open ended %s: %v", out.FinishReason, out.Err)
			}
			if err := e.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A refusal names the request if it has a name, and a context that is none.
func TestRefusalsNameTheirRequest(t *testing.T) {
	e := spawnEcho(t, executor.EchoConfig{Blocks: 64}, Config{})
	var none context.Context
	good := []Request{{ID: "a", PromptIDs: ids(5, 1), MaxNewTokens: 1}}
	for want, err := range map[string]error{
		"request rejected: the prompt is empty":     second(e.AddRequest(t.Context(), Request{})),
		`request "a": request rejected: `:           second(e.AddRequest(t.Context(), Request{ID: "a"})),
		"request 2 of 2: request rejected: ":        second(e.AddRequests(t.Context(), append(good, Request{}))),
		`request 2 of 2 ("b"): request rejected: `:  second(e.AddRequests(t.Context(), append(good, Request{ID: "b"}))),
		`request "a": ` + errNoContext.Error():      second(e.AddRequest(none, good[0])),
		errNoContext.Error():                        second(e.AddRequests(none, good)),
		"request rejected: bad parameter: the cont": second(e.GenerateBatch(none, good, BatchOptions{})),
	} {
		if !errors.Is(err, ErrRejected) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if n := len(e.requests.byID); n != 0 {
		t.Errorf("%d ids are in use", n)
	}
}

func second[T any](_ T, err error) error { return err }
