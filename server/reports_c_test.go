package server

import (
	"bufio"
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/executor"
)

// paced is an echo of which a step takes so long, and its count of steps.
func paced(t *testing.T, step time.Duration, ec executor.EchoConfig) (*rig, *atomic.Int64) {
	steps := new(atomic.Int64)
	ec.Delay = func(b *executor.Batch) {
		if len(b.Rows) > 0 {
			steps.Add(1)
			time.Sleep(step)
		}
	}
	return serveEcho(t, ec, engine.Config{}, Options{}), steps
}

// readEvents reads so many events of a stream.
func readEvents(resp *http.Response, n int) {
	for lines := bufio.NewScanner(resp.Body); n > 0 && lines.Scan(); {
		if len(lines.Bytes()) > 0 {
			n--
		}
	}
}

// C1: when the client has gone, its request ends, streamed or not.
func TestReportC1ClientGone(t *testing.T) {
	held := make(chan struct{}, 1) // what is in it holds up steps
	var steps atomic.Int64
	r := serveEcho(t, executor.EchoConfig{Blocks: 128, Delay: func(b *executor.Batch) {
		if len(b.Rows) > 0 {
			time.Sleep(10 * time.Millisecond)
			select {
			case held <- struct{}{}:
				steps.Add(1)
				<-held
			case <-t.Context().Done(): // the test has failed
			}
		}
	}}, engine.Config{}, Options{})
	for _, stream := range []bool{true, false} {
		ctx, leave := context.WithCancel(t.Context())
		body := object{"prompt": count(5), "max_tokens": 1000, "ignore_eos": true, "stream": stream, "return_token_ids": true}
		before := r.engine.Metrics().Ended[engine.FinishCancelled]
		if stream {
			resp := r.open(ctx, completionsPath, body)
			readEvents(resp, 5)
			held <- struct{}{}
			leave()
			drop(t, resp)
		} else {
			go func() {
				for r.engine.Metrics().Running == 0 && t.Context().Err() == nil {
					time.Sleep(time.Millisecond)
				}
				held <- struct{}{}
				leave()
			}()
			if _, err := http.DefaultClient.Do(r.request(ctx, completionsPath, body)); !errors.Is(err, context.Canceled) {
				t.Errorf("the call ended with %v", err)
			}
		}
		r.until("that is noticed", func() bool { return r.engine.Metrics().Ended[engine.FinishCancelled] > before })
		gone := steps.Load()
		<-held
		r.resting()
		if more := steps.Load() - gone; more > 3 {
			t.Errorf("stream %t: %d steps after its client had gone", stream, more)
		}
		if got := r.engine.Metrics().Ended[engine.FinishCancelled]; got != before+1 {
			t.Errorf("stream %t: %d cancelled, want one more than %d", stream, got, before)
		}
	}
	r.ask(completionsPath, object{"prompt": count(5), "max_tokens": 2})
}

// C3: that is so in the middle of a long prompt, too, and what was computed of it is kept.
func TestReportC3DisconnectInPrefill(t *testing.T) {
	third, heard := make(chan struct{}), make(chan struct{})
	var steps atomic.Int64
	slow := func(b *executor.Batch) {
		if len(b.Rows) > 0 && steps.Add(1) == 3 {
			close(third)
			<-heard
		}
	}
	r := serveEcho(t, executor.EchoConfig{Blocks: 128, Tokens: 16, Delay: slow}, engine.Config{}, Options{})
	prompt := count(16 * 100)
	ctx, leave := context.WithCancel(t.Context())
	go func() {
		<-third
		leave()
	}()
	body := object{"prompt": prompt, "max_tokens": 2, "ignore_eos": true, "return_token_ids": true}
	if _, err := http.DefaultClient.Do(r.request(ctx, completionsPath, body)); !errors.Is(err, context.Canceled) {
		t.Errorf("the call ended with %v", err)
	}
	r.until("it is cancelled", func() bool { return r.engine.Metrics().Ended[engine.FinishCancelled] == 1 })
	close(heard)
	r.resting()
	if n := steps.Load(); n > 7 {
		t.Errorf("%d chunks of a prompt whose client left in the third", n)
	}
	again := r.ask(completionsPath, body)
	if cached := again.Usage.Details.Cached; cached < 2*16 || cached > 7*16 || !slices.Equal(again.Choices[0].IDs, executor.EchoRef(prompt, 2, 2048, 1)) {
		t.Errorf("sent again: %d cached, %v", cached, again.Choices[0].IDs)
	}
}

// C4: streams that are given up leave nothing behind.
func TestReportC4ManyVanish(t *testing.T) {
	rounds := 500
	if testing.Short() {
		rounds = 50
	}
	r := serveEcho(t, executor.EchoConfig{Blocks: 64, Delay: func(*executor.Batch) { time.Sleep(200 * time.Microsecond) }}, engine.Config{}, Options{})
	one := object{"prompt": count(5), "max_tokens": 3, "ignore_eos": true}
	r.ask(completionsPath, one)
	http.DefaultClient.CloseIdleConnections()
	baseline := runtime.NumGoroutine()
	random := rand.New(rand.NewPCG(4, 4))
	for i := range rounds {
		ctx, leave := context.WithCancel(t.Context())
		req := r.request(ctx, completionsPath, object{"prompt": count(5), "max_tokens": 500, "ignore_eos": true, "stream": true})
		if i%10 == 0 { // before any header
			time.AfterFunc(time.Duration(random.IntN(500))*time.Microsecond, leave)
		}
		if resp, err := http.DefaultClient.Do(req); err == nil {
			readEvents(resp, random.IntN(4))
			leave()
			drop(t, resp)
		}
		leave()
	}
	r.resting()
	r.ask(completionsPath, one)
	http.DefaultClient.CloseIdleConnections()
	r.until("no goroutine is left", func() bool { return runtime.NumGoroutine() <= baseline+2 })
}

// S12: a client that does not read holds up nobody, and is cut off.
func TestReportS12SlowReader(t *testing.T) {
	t.Parallel()
	r := serveEcho(t, executor.EchoConfig{Blocks: 4096, Context: 1 << 16}, engine.Config{}, Options{Limits: Limits{Patience: 200 * time.Millisecond}})
	slow := r.open(t.Context(), completionsPath, object{"prompt": count(5), "max_tokens": 60_000, "ignore_eos": true, "stream": true, "logprobs": 20})
	defer drop(t, slow)
	if a := r.ask(completionsPath, object{"prompt": count(9), "max_tokens": 20, "ignore_eos": true}); a.Usage.Completion != 20 {
		t.Errorf("%+v", a)
	}
	r.until("who does not read is cut off", func() bool {
		return r.engine.Metrics().Ended[engine.FinishCancelled] == 1 && r.scrape()["cbactor_slow_readers_cut_total"] == 1
	})
	r.resting()
}
