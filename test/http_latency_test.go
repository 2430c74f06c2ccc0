package test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cbactor/cbactor/engine"
)

// latencyTime is how long either way of reading is measured.
const latencyTime = 8 * time.Second

// latencies are of tokens that were read.
type latencies struct {
	late []time.Duration // of each token: when it was read, behind the moment that the engine tells
	pace []time.Duration // of each request: time a token, behind its first
}

func (l *latencies) add(made []time.Time, read []int64) {
	for i, at := range made {
		l.late = append(l.late, time.Duration(read[i]-at.UnixNano()))
	}
	n := len(read) - 1
	l.pace = append(l.pace, time.Duration(read[n]-read[0])/time.Duration(n))
}

// at is a quantile of a list.
func at(list []time.Duration, quantile float64) time.Duration {
	slices.Sort(list)
	return list[int(quantile*float64(len(list)-1))].Round(time.Microsecond)
}

func (l *latencies) String() string {
	return fmt.Sprintf("read %v at p50 and %v at p99 behind the engine, %v and %v a token; %d tokens of %d requests",
		at(l.late, .5), at(l.late, .99), at(l.pace, .5), at(l.pace, .99), len(l.late), len(l.pace))
}

// What HTTP adds to the latency of a token at p99 is less than 1 ms: for 16 streams between the
// engine and another process that reads, of each token; and for 500 of each token of a request in
// the mean. Those of one step come at the same moment, and each takes two cores some 20 µs in
// either process: behind the engine the last of 500 is by more, as is logged. A busy machine gets
// three tries.
func TestHTTPLatency(t *testing.T) {
	full(t)
	for _, c := range []struct {
		streams int
		step    time.Duration
	}{{16, 5 * time.Millisecond}, {500, 50 * time.Millisecond}} {
		t.Run(fmt.Sprint(c.streams), func(t *testing.T) {
			best := time.Hour
			for try := 0; try < 3 && best > time.Millisecond; try++ {
				e := newTimed(t, c.step)
				local, over := e.readLocally(t, c.streams), e.readOverHTTP(t, c.streams)
				late, pace := at(over.late, .99)-at(local.late, .99), at(over.pace, .99)-at(local.pace, .99)
				t.Logf("%d streams, steps of %v, in the process: %v", c.streams, c.step, local)
				t.Logf("%d streams, steps of %v, over HTTP: %v", c.streams, c.step, over)
				t.Logf("HTTP adds at p99: %v between engine and reader, %v a token", late, pace)
				if c.streams == 16 {
					best = min(best, max(late, pace))
				} else {
					best = min(best, pace)
				}
			}
			if best > time.Millisecond {
				t.Errorf("%v at best, 1 ms is wanted", best)
			}
		})
	}
}

// readLocally has goroutines read streams of the engine.
func (e *timed) readLocally(t *testing.T, streams int) *latencies {
	t.Helper()
	var l latencies
	var mu sync.Mutex
	var last atomic.Int64
	var running sync.WaitGroup
	end := time.Now().Add(latencyTime)
	for range streams {
		running.Go(func() {
			for time.Now().Before(end) {
				made, read, err := e.readLocal(t.Context(), int(last.Add(1)))
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				l.add(made, read)
				mu.Unlock()
			}
		})
	}
	running.Wait()
	return &l
}

// readLocal reads a request to its end: when its tokens were made, and when they were read.
func (e *timed) readLocal(ctx context.Context, number int) (made []time.Time, read []int64, err error) {
	prompt, tokens := wanted(number % kinds)
	s, err := e.AddRequest(ctx, engine.Request{PromptIDs: prompt, MaxNewTokens: tokens, IgnoreEOS: true})
	if err != nil {
		return nil, nil, err
	}
	for {
		c, err := s.Recv(ctx)
		if err != nil {
			return nil, nil, err
		}
		now := time.Now().UnixNano()
		for range c.TokenIDs {
			read = append(read, now)
		}
		if c.Final != nil {
			return c.Final.Timing.Tokens, read, c.Final.Err
		}
	}
}

// readOverHTTP has another process read streams.
func (e *timed) readOverHTTP(t *testing.T, streams int) *latencies {
	t.Helper()
	clients := cast[ended](t, part{Role: "streams", Address: e.url, Name: "stream", Streams: streams})
	time.Sleep(latencyTime)
	if err := clients.end(); err != nil {
		t.Error(err)
	}
	var l latencies
	for _, r := range clients.ends(soon) {
		switch r.Reason {
		case vanished:
		case engine.FinishLength:
			l.add(e.times(t, "cmpl-"+r.ID), r.Arrived)
		default:
			t.Fatalf("%s: %s %s", r.ID, r.Reason, r.Error)
		}
	}
	return &l
}

// The first token comes over HTTP at most 1 ms later than in the process, in the median of
// requests that are made in turn.
func TestHTTPFirstToken(t *testing.T) {
	full(t)
	e := newTimed(t, 0)
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	const rounds = 501
	var local, over []time.Duration
	for i := range rounds {
		begin := time.Now().UnixNano()
		_, read, err := e.readLocal(t.Context(), i)
		if err != nil {
			t.Fatal(err)
		}
		local = append(local, time.Duration(read[0]-begin))
		begin = time.Now().UnixNano()
		r := streamOne(t.Context(), client, e.url, fmt.Sprint("first-", i), i, 0)
		if r.Reason != engine.FinishLength {
			t.Fatalf("%s: %s", r.Reason, r.Error)
		}
		over = append(over, time.Duration(r.Arrived[0]-begin))
	}
	t.Logf("the first token after %v in the process, %v over HTTP, in the median of %d in turn; %v and %v at p99", at(local, .5), at(over, .5), rounds, at(local, .99), at(over, .99))
	if added := at(over, .5) - at(local, .5); added > time.Millisecond {
		t.Errorf("HTTP adds %v, want at most 1 ms", added)
	}
}
