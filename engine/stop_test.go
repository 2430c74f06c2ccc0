package engine

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/cbactor/cbactor/executor"
)

func TestStopLetsWhatWasAcceptedComplete(t *testing.T) {
	e := spawnEcho(t, executor.EchoConfig{Blocks: 64}, Config{})
	var streams []*Stream
	for i := range 20 {
		s, err := e.AddRequest(t.Context(), Request{PromptIDs: ids(20, i), MaxNewTokens: 10})
		if err != nil {
			t.Fatal(err)
		}
		streams = append(streams, s)
	}
	if err := e.Stop(t.Context(), StopOptions{}); err != nil {
		t.Fatal(err)
	}
	for i, s := range streams {
		if out := s.Wait(t.Context()); !slices.Equal(out.TokenIDs, executor.EchoRef(ids(20, i), 10, echoVocab, 1)) {
			t.Errorf("%d ended %s with %v", i, out.FinishReason, out.TokenIDs)
		}
	}
	if _, err := e.AddRequest(t.Context(), Request{PromptIDs: ids(3, 1)}); !errors.Is(err, ErrNotRunning) {
		t.Errorf("a request after the stop: %v", err)
	}
	if err := e.Stop(t.Context(), StopOptions{}); err != nil {
		t.Errorf("a second stop: %v", err)
	}
}

func TestHardStopFailsWhatIsOpenWithWhatItHas(t *testing.T) {
	begun, step := make(chan struct{}, 100), make(chan struct{})
	e := spawnEcho(t, executor.EchoConfig{Blocks: 64, Slots: 2, Delay: func(*executor.Batch) {
		begun <- struct{}{}
		<-step
	}}, Config{})
	var streams []*Stream
	for i := range 4 {
		s, err := e.AddRequest(t.Context(), Request{PromptIDs: ids(4, i), MaxNewTokens: 10})
		if err != nil {
			t.Fatal(err)
		}
		streams = append(streams, s)
	}
	<-begun
	step <- struct{}{}
	<-begun // the second step runs, and hangs
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := e.Stop(ctx, StopOptions{Hard: true}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("stop with a step that hangs: %v", err)
	}
	close(step)
	if err := e.Stop(t.Context(), StopOptions{Hard: true}); err != nil {
		t.Fatal(err)
	}
	got := 0
	for i, s := range streams {
		out := s.Wait(t.Context())
		if out.FinishReason != FinishFailed || !errors.Is(out.Err, ErrStopped) {
			t.Errorf("%d ended %s: %v", i, out.FinishReason, out.Err)
		}
		if !slices.Equal(out.TokenIDs, executor.EchoRef(ids(4, i), len(out.TokenIDs), echoVocab, 1)) {
			t.Errorf("%d has %v", i, out.TokenIDs)
		}
		got += len(out.TokenIDs)
	}
	if got == 0 {
		t.Error("the tokens of the last step are lost")
	}
}

func TestCloseTwiceFromAnywhere(t *testing.T) {
	e := spawnEcho(t, executor.EchoConfig{Blocks: 64}, Config{})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

// A step that panics, and one that fails whole, end the engine loudly: every open
// request fails, the error says why, and the process can spawn a new one.
func TestCrashFailsEveryOpenRequest(t *testing.T) {
	for name, delay := range map[string]func(*executor.Batch){
		"panic": func(b *executor.Batch) {
			if b.Step == 3 {
				panic("planted")
			}
		},
		"broken batch": func(b *executor.Batch) {
			if b.Step == 3 {
				b.Rows[0].Start = 0 // reads what is not there
				b.Rows[0].Count = 1 << 20
			}
		},
	} {
		e := spawnEcho(t, executor.EchoConfig{Blocks: 64, Delay: delay}, Config{})
		outs, err := e.GenerateBatch(t.Context(), []Request{{PromptIDs: ids(4, 1), MaxNewTokens: 9}, {PromptIDs: ids(4, 2), MaxNewTokens: 9}}, BatchOptions{})
		if !errors.Is(err, ErrCrashed) {
			t.Errorf("%s: the batch says %v", name, err)
		}
		for _, out := range outs {
			if out.FinishReason != FinishFailed || !errors.Is(out.Err, ErrCrashed) {
				t.Errorf("%s: ended %s: %v", name, out.FinishReason, out.Err)
			}
		}
		if _, err := e.AddRequest(t.Context(), Request{PromptIDs: ids(4, 1)}); !errors.Is(err, ErrNotRunning) || !errors.Is(err, ErrCrashed) {
			t.Errorf("%s: a request after the crash: %v", name, err)
		}
	}
}

// A bad row fails its own request; the others never notice.
func TestFailedRowFailsItsRequestAlone(t *testing.T) {
	planted := errors.New("planted")
	e := spawnEcho(t, executor.EchoConfig{Blocks: 64, Fail: func(have []int32) error {
		if have[0] == ids(1, 2)[0] && len(have) == 6 {
			return planted
		}
		return nil
	}}, Config{})
	outs, err := e.GenerateBatch(t.Context(), []Request{{PromptIDs: ids(4, 1), MaxNewTokens: 9}, {PromptIDs: ids(4, 2), MaxNewTokens: 9}}, BatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if outs[0].FinishReason != FinishLength || len(outs[0].TokenIDs) != 9 {
		t.Errorf("the mate ended %s with %v", outs[0].FinishReason, outs[0].TokenIDs)
	}
	if outs[1].FinishReason != FinishFailed || !errors.Is(outs[1].Err, planted) || len(outs[1].TokenIDs) != 2 {
		t.Errorf("the bad one ended %s with %v: %v", outs[1].FinishReason, outs[1].TokenIDs, outs[1].Err)
	}
}

// A stop begins also where its context has ended already, and a start then finds a
// session that was kept.
func TestStopWithAContextThatHasEnded(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	e := spawnEcho(t, executor.EchoConfig{Blocks: 8}, Config{})
	for range 20 {
		if err := e.Stop(ctx, StopOptions{Hard: true, Keep: true}); err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		until(t, "it has stopped", func() bool { return !e.Running() })
		if err := e.Start(ctx); err != nil || !e.Running() {
			t.Fatalf("running: %t, %v", e.Running(), err)
		}
	}
}
