package engine

import (
	"context"
	commandline "flag"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/cbactor/cbactor/executor"
)

var sessionStorm = commandline.Duration("sessionstorm", time.Second, "how long TestSessionsUnderLoad goes on")

// Sessions begin and end, soft and hard, while requests with everything that they can
// ask for come and go, have deadlines and bad handlers: nobody hangs, nothing is left,
// and the last session serves as the first.
func TestSessionsUnderLoad(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	e := spawnEcho(t, executor.EchoConfig{Vocab: companyVocab, PageSize: 4, Context: 120, Blocks: 40, Slots: 6, Tokens: 30, Outstanding: 2, HostBlocks: 20}, Config{MaxQueueSize: 24})
	stop := make(chan struct{})
	var clients sync.WaitGroup
	for w := range 8 {
		r := rand.New(rand.NewPCG(seed, uint64(w)))
		clients.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					visit(e, r)
				}
			}
		})
	}
	r := rand.New(rand.NewPCG(seed, 99))
	for began := time.Now(); time.Since(began) < *sessionStorm; {
		time.Sleep(time.Duration(r.IntN(20)) * time.Millisecond)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		if err := e.Stop(ctx, StopOptions{Hard: r.IntN(2) == 0, Keep: true, Async: r.IntN(3) == 0}); err != nil {
			t.Error("stop", err)
		}
		if err := e.Start(ctx); err != nil {
			t.Error("start", err)
		}
		cancel()
	}
	close(stop)
	left := make(chan struct{})
	go func() { clients.Wait(); close(left) }()
	select {
	case <-left:
	case <-time.After(30 * time.Second):
		panic("somebody hangs") // with the stacks of all
	}
	until(t, "nothing is left", func() bool {
		for _, err := range e.Results(t.Context()) { // again: a handler that panics late leaves its result to others
			if err != nil {
				t.Error(err)
			}
		}
		e.requests.mu.Lock()
		defer e.requests.mu.Unlock()
		return len(e.requests.byID) == 0 && e.requests.keeping == 0
	})
	out := mustAdd(t, e, Request{PromptIDs: make([]int32, 100), MaxNewTokens: 20}).Wait(t.Context())
	if out.FinishReason != FinishLength || out.Err != nil {
		t.Errorf("%+v", out)
	}
}

// visit is a client that asks for something in some way, and may not wait for it. What it
// is refused does not matter here.
func visit(e *Engine, r *rand.Rand) {
	q := anyRequest(r)
	if !q.Score {
		q.FirstToken = time.Duration(r.IntN(2)*r.IntN(3000)) * time.Microsecond
	}
	q.Deadline = time.Duration(r.IntN(2)*r.IntN(5000)) * time.Microsecond
	q.Wait, q.Streaming = r.IntN(2) == 0, r.IntN(2) == 0
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(1+r.IntN(20))*time.Millisecond)
	defer cancel()
	switch r.IntN(4) {
	case 0:
		s, err := e.AddRequest(ctx, q)
		if err != nil {
			return
		}
		for _, c := range append(s.Children(), s) {
			c.Wait(context.Background())
		}
	case 1:
		for _, id := range acceptedOf(e.AddRequests(ctx, []Request{q, anyRequest(r)})) {
			for range e.ResultsOf(context.Background(), id) {
				continue
			}
		}
	case 2:
		_, _ = e.GenerateBatch(ctx, []Request{q, anyRequest(r)}, BatchOptions{}) // each output has its own error
	case 3:
		for _, id := range acceptedOf(e.AddRequests(ctx, []Request{q})) {
			_ = e.Handle(id, func(Chunk) { // it may have been read
				if rand.IntN(10) == 0 {
					panic("a bad handler")
				}
			})
		}
	}
}

// acceptedOf are the ids of what was accepted.
func acceptedOf(ids []string, _ error) (accepted []string) {
	for _, id := range ids {
		if id != "" {
			accepted = append(accepted, id)
		}
	}
	return accepted
}
