package engine

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cbactor/cbactor/executor"
)

func quickly(*executor.Batch) { time.Sleep(200 * time.Microsecond) }

// Who waits for room comes in as it came.
func TestNobodyWhoWaitsIsOvertaken(t *testing.T) {
	e, gate := fullQueue(t)
	begun := make([]time.Time, 60)
	var all sync.WaitGroup
	for i := range begun {
		all.Go(func() {
			s, err := e.AddRequest(t.Context(), Request{PromptIDs: ids(5, i), MaxNewTokens: 2, Wait: true})
			if err != nil {
				t.Error(err)
				return
			}
			begun[i] = s.Wait(t.Context()).Timing.Started
		})
		until(t, "it is in line", func() bool { return e.Metrics().InLine == int64(i+1) })
	}
	close(gate)
	all.Wait()
	for i := 1; i < len(begun); i++ {
		if !begun[i-1].Before(begun[i]) {
			t.Errorf("number %d began at %v, number %d before it at %v", i, begun[i], i-1, begun[i-1])
		}
	}
}

// N sequences that need the whole queue come in beside single ones that keep coming; so
// does a warm-up, and a batch.
func TestWhoNeedsMuchRoomGetsIt(t *testing.T) {
	e := spawnEcho(t, executor.EchoConfig{Blocks: 64, Slots: 8, Delay: quickly}, Config{MaxQueueSize: 8})
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	var served atomic.Int64
	for range 12 {
		all.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				if s, err := e.AddRequest(ctx, Request{PromptIDs: ids(5, i), MaxNewTokens: 3, Wait: true}); err == nil {
					s.Wait(t.Context())
					served.Add(1)
				}
			}
		})
	}
	until(t, "the others run", func() bool { return served.Load() > 50 })
	limit, end := context.WithTimeout(t.Context(), 30*time.Second)
	defer end()
	least := int64(math.MaxInt64)
	for try := 0; try < 5 && least > 200; try++ { // between the call and its place in line this goroutine may have to wait
		before := served.Load()
		s, err := e.AddRequest(limit, Request{PromptIDs: ids(5, 99), MaxNewTokens: 3, N: 8, Wait: true})
		if err != nil {
			t.Fatalf("8 sequences: %v; meanwhile %d single ones were served", err, served.Load()-before)
		}
		least = min(least, served.Load()-before)
		s.Wait(t.Context())
	}
	if least > 200 {
		t.Errorf("8 sequences waited for %d single ones", least)
	}
	if err := e.Warmup(limit, nil); err != nil {
		t.Errorf("a warm-up: %v", err)
	}
	outs, err := e.GenerateBatch(limit, []Request{{PromptIDs: ids(5, 1), MaxNewTokens: 3, N: 8}, {PromptIDs: ids(5, 2), MaxNewTokens: 3, N: 3}}, BatchOptions{})
	if err != nil || outs[10].FinishReason != FinishLength {
		t.Errorf("a batch: %v", err)
	}
	cancel()
	all.Wait()
}

// A batch whose progress is looked at slowly holds up nobody: not even when it is the
// first of those who wait.
func TestASlowLookAtProgressHoldsUpNobody(t *testing.T) {
	e := spawnEcho(t, executor.EchoConfig{Blocks: 64}, Config{MaxQueueSize: 1})
	gate, looking := make(chan struct{}), make(chan struct{}, 3)
	done := make(chan error, 1)
	go func() {
		list := []Request{{PromptIDs: ids(5, 1), MaxNewTokens: 1}, {PromptIDs: ids(5, 2), MaxNewTokens: 1}, {PromptIDs: ids(5, 3), MaxNewTokens: 1}}
		_, err := e.GenerateBatch(t.Context(), list, BatchOptions{Progress: func(Progress) {
			looking <- struct{}{}
			<-gate
		}})
		done <- err
	}()
	<-looking
	for i := range 5 {
		s, err := e.AddRequest(t.Context(), Request{PromptIDs: ids(5, i), MaxNewTokens: 2, Wait: true})
		if err != nil {
			t.Fatal(err)
		}
		s.Wait(t.Context())
	}
	close(gate)
	if err := <-done; err != nil {
		t.Error(err)
	}
}
