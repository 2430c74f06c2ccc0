package engine

import (
	"context"
	"errors"
	"io"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/cbactor/cbactor/actors"
	"github.com/cbactor/cbactor/executor"
)

// numbered are n requests, "r0" and so on, of which number i generates 1+i tokens.
func numbered(n int) []Request {
	list := make([]Request, n)
	for i := range list {
		list[i] = Request{ID: "r" + strconv.Itoa(i), PromptIDs: ids(5, i), MaxNewTokens: 1 + i}
	}
	return list
}

func mustAddAll(t *testing.T, e *Engine, list []Request) []string {
	t.Helper()
	names, err := e.AddRequests(t.Context(), list)
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestResultsComeInTheOrderOfTheirEnds(t *testing.T) {
	e := spawnEcho(t, executor.EchoConfig{Blocks: 64}, Config{})
	list := numbered(8)
	slices.Reverse(list)
	h := pause(t, e, PauseOptions{}) // all begin in one step
	mustAddAll(t, e, list)
	release(t, h)
	var got []string
	for out, err := range e.Results(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		n := len(got)
		if want := executor.EchoRef(ids(5, n), 1+n, echoVocab, 1); !slices.Equal(out.TokenIDs, want) || out.FinishReason != FinishLength {
			t.Errorf("%s ended %s with %v, want %v", out.RequestID, out.FinishReason, out.TokenIDs, want)
		}
		got = append(got, out.RequestID)
	}
	if want := []string{"r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7"}; !slices.Equal(got, want) {
		t.Errorf("they came as %v", got)
	}
	for range e.Results(t.Context()) {
		t.Error("there is a result again")
	}
}

// Who waits for one id gets that one, however late, and the others keep their order
// for who takes any (the reference puts them back at the end of its queue, and answers
// nothing).
func TestWaitingForOneDisturbsNoOther(t *testing.T) {
	gate := make(chan struct{})
	e := spawnEcho(t, executor.EchoConfig{Blocks: 64, Delay: func(*executor.Batch) { <-gate }}, Config{})
	mustAddAll(t, e, numbered(6))
	one := make(chan Output)
	go func() {
		out, err := e.Result(context.Background(), "r3")
		if err != nil {
			t.Error(err)
		}
		one <- out
	}()
	for e.requests.find("r3") != nil && !claimed(e, "r3") {
		time.Sleep(time.Millisecond)
	}
	close(gate)
	var got []string
	for out, err := range e.Results(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, out.RequestID)
	}
	if out := <-one; out.RequestID != "r3" || len(out.TokenIDs) != 4 {
		t.Errorf("r3 is %+v", out)
	}
	if want := []string{"r0", "r1", "r2", "r4", "r5"}; !slices.Equal(got, want) {
		t.Errorf("the others came as %v", got)
	}
	if _, err := e.Result(t.Context(), "r3"); !errors.Is(err, ErrUnknownID) {
		t.Errorf("a result that was read: %v", err)
	}
}

func claimed(e *Engine, id string) bool {
	e.requests.mu.Lock()
	defer e.requests.mu.Unlock()
	r := e.requests.byID[id]
	return r != nil && r.claims > 0
}

// Who takes any result does not take one that is waited for by its id, unless that
// wait is given up.
func TestAResultThatIsWaitedForIsNotTaken(t *testing.T) {
	e := spawnEcho(t, executor.EchoConfig{Blocks: 64}, Config{})
	gone := e.requests.changed()
	mustAddAll(t, e, numbered(2))
	r := e.requests.claim("r0")
	<-gone
	if out, err := e.NextResult(t.Context()); err != nil || out.RequestID != "r1" {
		t.Errorf("%s, %v", out.RequestID, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if out, err := e.NextResult(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%s, %v", out.RequestID, err)
	}
	e.requests.unclaim(r, false)
	if out, err := e.NextResult(t.Context()); err != nil || out.RequestID != "r0" {
		t.Errorf("%s, %v", out.RequestID, err)
	}
}

// Whoever sees that a request has ended can use its id again.
func TestAnIDIsFreeBeforeTheEndIsSeen(t *testing.T) {
	q := newRequests()
	for range 5000 {
		r := &record{id: "a", requests: q, unbind: func() bool { return true }}
		if err := q.enter([]*record{r}, ""); err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() {
			r.End(actors.End{Reason: FinishStop})
			close(done)
		}()
		for r.open() {
		}
		if q.find("a") != nil {
			t.Fatal("it has ended, and its id is in use")
		}
		<-done
	}
}

// A wait that is given up leaves the result to others.
func TestAWaitThatEndsEarlyTakesNothing(t *testing.T) {
	gate := make(chan struct{})
	e := spawnEcho(t, executor.EchoConfig{Blocks: 64, Delay: func(*executor.Batch) { <-gate }}, Config{})
	mustAddAll(t, e, numbered(1))
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := e.Result(ctx, "r0"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("result: %v", err)
	}
	if _, err := e.NextResult(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("next: %v", err)
	}
	for _, err := range e.ResultsOf(ctx, "r0") {
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("results of r0: %v", err)
		}
	}
	close(gate)
	if out, err := e.NextResult(t.Context()); err != nil || out.RequestID != "r0" || out.FinishReason != FinishLength {
		t.Errorf("%+v, %v", out, err)
	}
}

// An iteration over one request has every step's news if that is asked for, and ends
// behind the last; one that is broken off leaves the result where it is.
func TestResultsOfOneRequest(t *testing.T) {
	e, gate := spawnStepwise(t)
	want := executor.EchoRef(ids(5, 1), 20, echoVocab, 1)
	mustAddAll(t, e, []Request{{ID: "steps", PromptIDs: ids(5, 1), MaxNewTokens: 20, Streaming: true}, {ID: "once", PromptIDs: ids(5, 1), MaxNewTokens: 20}})
	gate <- struct{}{}
	for range e.ResultsOf(t.Context(), "steps") {
		break
	}
	var got []int32
	chunks := 0
	for c, err := range e.ResultsOf(t.Context(), "steps") {
		if err != nil || c.Offset != len(got) || c.RequestID != "steps" {
			t.Fatalf("%+v, %v after %d tokens", c, err, len(got))
		}
		got = append(got, c.TokenIDs...)
		if chunks++; chunks == 1 {
			close(gate)
		}
	}
	if !slices.Equal(got, want) || chunks < 2 {
		t.Errorf("%d chunks of %v", chunks, got)
	}
	chunks = 0
	for c, err := range e.ResultsOf(t.Context(), "once") {
		if err != nil || c.Final == nil || !slices.Equal(c.TokenIDs, want) {
			t.Errorf("%+v, %v", c, err)
		}
		chunks++
	}
	if chunks != 1 {
		t.Errorf("%d chunks at once", chunks)
	}
	for _, id := range []string{"steps", "once", "nobody"} {
		for _, err := range e.ResultsOf(t.Context(), id) {
			if !errors.Is(err, ErrUnknownID) {
				t.Errorf("%s again: %v", id, err)
			}
		}
	}
}

// Several readers of a request have all of it, each at its pace.
func TestReadersDoNotStealFromEachOther(t *testing.T) {
	e := spawnEcho(t, executor.EchoConfig{Blocks: 64, Delay: slowly}, Config{})
	want := executor.EchoRef(ids(5, 1), 30, echoVocab, 1)
	handled := make(chan Chunk, 100)
	h := pause(t, e, PauseOptions{}) // all read before it ends
	s := mustAdd(t, e, Request{ID: "a", PromptIDs: ids(5, 1), MaxNewTokens: 30, Streaming: true, Handler: func(c Chunk) { handled <- c }})
	read := make(chan []int32)
	go func() {
		var got []int32
		for c, err := range e.ResultsOf(context.Background(), "a") {
			if err != nil {
				t.Error(err)
			}
			got = append(got, c.TokenIDs...)
		}
		read <- got
	}()
	until(t, "it is read by its id", func() bool { return claimed(e, "a") })
	release(t, h)
	if out := s.Wait(t.Context()); !slices.Equal(out.TokenIDs, want) {
		t.Errorf("the stream has %v", out.TokenIDs)
	}
	if got := <-read; !slices.Equal(got, want) {
		t.Errorf("the iterator has %v", got)
	}
	var got []int32
	for c := range handled {
		if got = append(got, c.TokenIDs...); c.Final != nil {
			break
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("the handler has %v", got)
	}
}

// Iterations and waits end with the last result when the engine stops meanwhile, and
// begin again with the next session.
func TestResultsEndWithTheEngine(t *testing.T) {
	e := spawnEcho(t, executor.EchoConfig{Blocks: 64, Delay: slowly}, Config{})
	for round := range 2 {
		mustAddAll(t, e, numbered(9))
		read := make(chan int)
		go func() {
			n := 0
			for {
				out, err := e.NextResult(context.Background())
				if err == io.EOF {
					break
				}
				if n++; err != nil || out.FinishReason != FinishLength && !errors.Is(out.Err, ErrStopped) {
					t.Errorf("%+v, %v", out, err)
				}
			}
			read <- n
		}()
		if err := e.Stop(t.Context(), StopOptions{Hard: round == 0, Keep: true}); err != nil {
			t.Fatal(err)
		}
		if n := <-read; n != 9 {
			t.Errorf("%d results of 9", n)
		}
		if err := e.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// The id of a result that waits to be read is in use.
func TestAnIDIsInUseUntilItsResultIsRead(t *testing.T) {
	e := spawnEcho(t, executor.EchoConfig{Blocks: 64}, Config{})
	mustAddAll(t, e, numbered(1))
	s := mustAdd(t, e, Request{PromptIDs: ids(5, 1), MaxNewTokens: 2})
	s.Wait(t.Context())
	if _, err := e.AddRequest(t.Context(), numbered(1)[0]); !errors.Is(err, ErrDuplicateID) {
		t.Errorf("the same id again: %v", err)
	}
	if _, err := e.Result(t.Context(), "r0"); err != nil {
		t.Fatal(err)
	}
	mustAdd(t, e, numbered(1)[0]).Wait(t.Context())
	if n := len(e.requests.byID); n != 0 {
		t.Errorf("%d requests are still there", n)
	}
}

// After Close there are no results, and those who wait for one hear of it.
func TestCloseAnswersWhoWaitsForResults(t *testing.T) {
	e := spawnEcho(t, executor.EchoConfig{Blocks: 64}, Config{})
	waiting := make(chan error)
	go func() {
		_, err := e.NextResult(context.Background())
		waiting <- err
	}()
	time.Sleep(2 * time.Millisecond)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-waiting; !errors.Is(err, ErrClosed) {
		t.Errorf("it waited for %v", err)
	}
}
