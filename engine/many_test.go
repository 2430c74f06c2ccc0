package engine

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/sampling"
)

// What can be told of a request itself is told before anything is queued, of the
// first that is wrong, and the others leave nothing behind.
func TestAllRequestsAreTakenInOrNone(t *testing.T) {
	e := spawnEcho(t, executor.EchoConfig{Blocks: 64}, Config{MaxQueueSize: 8})
	good := Request{ID: "good", PromptIDs: ids(5, 1), MaxNewTokens: 2}
	for name, c := range map[string]struct {
		bad  Request
		want error
	}{
		"empty":       {Request{ID: "bad"}, ErrEmptyPrompt},
		"vocabulary":  {Request{ID: "bad", PromptIDs: []int32{echoVocab}}, ErrVocab},
		"temperature": {Request{ID: "bad", PromptIDs: ids(3, 1), Sampling: sampling.Params{Temperature: 9}}, ErrParams},
		"twice":       {Request{ID: "good", PromptIDs: ids(3, 1)}, ErrDuplicateID},
		"sequences":   {Request{ID: "bad", PromptIDs: ids(3, 1), N: 1000}, ErrParams},
	} {
		got, err := e.AddRequests(t.Context(), []Request{good, c.bad, {PromptIDs: ids(3, 2)}})
		if !errors.Is(err, c.want) || got != nil || !strings.Contains(err.Error(), `request 2 of 3 ("`+c.bad.ID+`")`) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	for range e.Results(t.Context()) {
		t.Error("something was begun")
	}
	if names := mustAddAll(t, e, []Request{good, {PromptIDs: ids(3, 2), MaxNewTokens: 1}}); !slices.Equal(names, []string{"good", "req-1"}) && !slices.Equal(names, []string{"good", "req-2"}) {
		t.Errorf("they are called %v", names)
	}
}

// Requests with equal beginnings are begun together, whatever the order in which they
// are given; their ids come in that order.
func TestEqualBeginningsAreBegunTogether(t *testing.T) {
	for _, sharing := range []bool{true, false} {
		var mu sync.Mutex
		var admitted []int32
		gate := make(chan struct{})
		e := spawnEcho(t, executor.EchoConfig{Blocks: 64, Slots: 1, Delay: func(b *executor.Batch) {
			<-gate
			mu.Lock()
			defer mu.Unlock()
			for _, a := range b.Admit {
				admitted = append(admitted, a.IDs[0])
			}
		}}, Config{AllowBlockSharing: &sharing})
		first := mustAdd(t, e, Request{PromptIDs: []int32{9}, MaxNewTokens: 1})
		var list []Request
		for _, id := range []int32{3, 1, 2, 3, 1, 2} {
			list = append(list, Request{PromptIDs: []int32{id, id}, MaxNewTokens: 1})
		}
		names := mustAddAll(t, e, list)
		if want := []string{"req-2", "req-3", "req-4", "req-5", "req-6", "req-7"}; !slices.Equal(names, want) {
			t.Errorf("their ids are %v", names)
		}
		close(gate)
		first.Wait(t.Context())
		for out, err := range e.Results(t.Context()) {
			if i := slices.Index(names, out.RequestID); err != nil || !slices.Equal(out.PromptIDs, list[i].PromptIDs) {
				t.Errorf("%+v, %v", out, err)
			}
		}
		want := []int32{9, 1, 1, 2, 2, 3, 3}
		if !sharing {
			want = []int32{9, 3, 1, 2, 3, 1, 2}
		}
		mu.Lock()
		if !slices.Equal(admitted, want) {
			t.Errorf("sharing %t: begun as %v, want %v", sharing, admitted, want)
		}
		mu.Unlock()
	}
}

// A full queue is waited for, by many at a time; when the context ends, who had begun
// is told.
func TestAFullQueueIsWaitedFor(t *testing.T) {
	e := spawnEcho(t, executor.EchoConfig{Blocks: 64, Delay: slowly}, Config{MaxQueueSize: 3})
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			var list []Request
			for k := range 20 {
				list = append(list, Request{PromptIDs: ids(3, 100*i+k), MaxNewTokens: 1 + k%3})
			}
			if _, err := e.AddRequests(t.Context(), list); err != nil {
				t.Error(err)
			}
			s, err := e.AddRequest(t.Context(), Request{PromptIDs: ids(3, i), MaxNewTokens: 1, Wait: true})
			if err != nil {
				t.Error(err)
				return
			}
			s.Wait(t.Context())
		})
	}
	wg.Wait()
	n := 0
	for out, err := range e.Results(t.Context()) {
		if n++; err != nil || out.FinishReason != FinishLength {
			t.Fatalf("%+v, %v", out, err)
		}
	}
	if n != 80 {
		t.Errorf("%d results of 80", n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		until(t, "the queue is full", func() bool { m := e.Metrics(); return m.Open == 3 && m.InLine > 0 })
	}()
	long := Request{PromptIDs: ids(3, 1), MaxNewTokens: 900}
	names, err := e.AddRequests(ctx, []Request{long, long, long, long, long})
	if !errors.Is(err, context.Canceled) || names[2] == "" || names[3] != "" || names[4] != "" {
		t.Errorf("the queue is full, and %v, %v", names, err)
	}
	if _, err := e.AddRequest(ctx, Request{PromptIDs: ids(3, 1), Wait: true}); !errors.Is(err, context.Canceled) {
		t.Errorf("one more: %v", err)
	}
	n = 0
	for out := range e.Results(t.Context()) {
		if n++; out.FinishReason != FinishCancelled || !slices.Contains(names, out.RequestID) {
			t.Errorf("%s ended %s", out.RequestID, out.FinishReason)
		}
	}
	if n != 3 {
		t.Errorf("%d results of 3 that began", n)
	}
	outs, err := e.GenerateBatch(t.Context(), []Request{{PromptIDs: ids(3, 1), MaxNewTokens: 1}}, BatchOptions{})
	if err != nil || outs[0].FinishReason != FinishLength {
		t.Errorf("afterwards: %+v, %v", outs, err)
	}
}

// A batch waits for room that others take, and no longer than its context.
func TestABatchWaitsForRoom(t *testing.T) {
	e := spawnEcho(t, executor.EchoConfig{Blocks: 64, Delay: slowly}, Config{MaxQueueSize: 1})
	s := mustAdd(t, e, Request{PromptIDs: ids(3, 1), MaxNewTokens: 900})
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	outs, err := e.GenerateBatch(ctx, []Request{{PromptIDs: ids(3, 1), MaxNewTokens: 1}}, BatchOptions{})
	if !errors.Is(err, context.DeadlineExceeded) || outs[0].FinishReason != FinishCancelled {
		t.Errorf("%+v, %v", outs, err)
	}
	go func() {
		time.Sleep(5 * time.Millisecond)
		e.Cancel(s.ID())
	}()
	outs, err = e.GenerateBatch(t.Context(), []Request{{PromptIDs: ids(3, 1), MaxNewTokens: 2}, {PromptIDs: ids(3, 2), MaxNewTokens: 2}}, BatchOptions{Timestamps: true})
	if err != nil || outs[0].RequestID != "req-3" || outs[1].RequestID != "req-4" || len(outs[1].Timing.Tokens) != 2 {
		t.Errorf("%+v, %v", outs, err)
	}
}
