package show

import (
	"strings"
	"testing"
	"time"

	"github.com/cbactor/cbactor/engine"
)

var epoch = time.Unix(1_000_000, 0)

func ended(reason engine.FinishReason, prompt, generated int, first time.Duration) *Result {
	return &Result{FinishReason: reason, FirstToken: first, Usage: engine.Usage{PromptTokens: prompt, CompletionTokens: generated, CachedTokens: 1}}
}

func TestSummary(t *testing.T) {
	tally := NewTally(7, epoch)
	tally.Skip()
	for i, r := range []*Result{
		ended(engine.FinishStop, 10, 40, 10*time.Millisecond),
		ended(engine.FinishLength, 20, 60, 20*time.Millisecond),
		ended(engine.FinishCancelled, 5, 0, 0),
		ended(engine.FinishFailed, 0, 0, 0),
		ended(engine.FinishAborted, 0, 0, 0),
		ended(engine.FinishStale, 0, 0, 0),
	} {
		entry := Entry{Index: i, MaxNew: 60}
		tally.Event(Event{Entry: entry})
		tally.Event(Event{Entry: entry, Tokens: r.Usage.CompletionTokens, Result: r})
	}
	tally.Describe("greedy", "the context of 90 tokens")
	want := "6 requests, 1 failed, 1 cancelled, 1 aborted, 1 stale, 1 skipped as done; 35 prompt tokens (6 cached), 100 generated in 2.50 s: 40.0 tokens/s; first token after 15ms on average; sampling: greedy"
	if got := strings.Join(tally.Summary(epoch.Add(2500*time.Millisecond)), "; "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if tally.Failed() != 1 || !tally.Ran() {
		t.Errorf("failed %d, ran %t", tally.Failed(), tally.Ran())
	}
}

// A limit that nobody asked for is named when it ended a request.
func TestSummaryNamesTheLimit(t *testing.T) {
	tally := NewTally(2, epoch)
	tally.Describe("", "the context of 90 tokens")
	for i, generated := range []int{60, 59} {
		entry := Entry{Index: i, MaxNew: 60}
		tally.Event(Event{Entry: entry})
		tally.Event(Event{Entry: entry, Tokens: generated, Result: ended(engine.FinishLength, 31, generated, 0)})
	}
	lines := tally.Summary(epoch.Add(time.Second))
	if len(lines) != 2 || lines[1] != "1 request ended before the tokens asked for, by the context of 90 tokens" {
		t.Errorf("summary %q", lines)
	}
}

// More sequences of a request make the run longer; time that is up is counted.
func TestSummaryOfSequences(t *testing.T) {
	tally := NewTally(1, epoch)
	for i := range 3 {
		entry := Entry{Index: i, MaxNew: 60, More: i > 0}
		tally.Event(Event{Entry: entry})
		tally.Event(Event{Entry: entry, Tokens: 10, Result: ended(engine.FinishDeadline, 5, 10, 0)})
	}
	if got, want := tally.requests(), "3/3 texts"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := tally.counts(epoch.Add(time.Second)), "1 request, 3 texts, 3 out of time; 15 prompt tokens (3 cached), 30 generated in 1.00 s: 30.0 tokens/s"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// Where the only request is refused there is nothing to sum up; where several are, or
// there is none, there is.
func TestNothingRanWhenTheOneIsRefused(t *testing.T) {
	tally := NewTally(1, epoch)
	if !tally.Ran() {
		t.Error("that there was no request is to be said")
	}
	for i, want := range []bool{false, true} {
		tally.Event(Event{Entry: Entry{Index: i}})
		tally.Event(Event{Entry: Entry{Index: i}, Result: ended(engine.FinishFailed, 9, 0, 0)})
		if tally.Ran() != want {
			t.Errorf("after %d refused requests: %t", i+1, tally.Ran())
		}
	}
}

// TestEstimate follows four requests that may generate 100 tokens each.
func TestEstimate(t *testing.T) {
	tally := NewTally(4, epoch)
	now := epoch.Add(10 * time.Second)
	check := func(want string, fraction float64) {
		t.Helper()
		if got := tally.line(now); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if got := tally.fraction(); got < fraction-0.001 || got > fraction+0.001 {
			t.Errorf("%s: fraction %.3f, want %.3f", want, got, fraction)
		}
	}
	check("0/4 requests, 0 tokens, 0.0 tokens/s", 0)
	for i := range 3 {
		tally.Event(Event{Entry: Entry{Index: i, MaxNew: 100}})
		tally.Event(Event{Entry: Entry{Index: i, MaxNew: 100}, Tokens: 20})
	}
	// None has ended: each may use all it may.
	check("0/4 requests, 60 tokens, 6.0 tokens/s, ETA 57s", 60./400)
	// One ended after 20 of 60 tokens: 60 for each end, 140 in the two open ones by
	// that rate 120, and 60 in the one to come.
	tally.Event(Event{Entry: Entry{Index: 0, MaxNew: 100}, Result: ended(engine.FinishStop, 1, 20, time.Second)})
	check("1/4 requests, 60 tokens, 6.0 tokens/s, ETA 30s", 60./240)
	for i := 1; i < 3; i++ {
		tally.Event(Event{Entry: Entry{Index: i, MaxNew: 100}, Tokens: 80, Result: ended(engine.FinishLength, 1, 100, time.Second)})
	}
	tally.Event(Event{Entry: Entry{Index: 3, MaxNew: 100}})
	tally.Event(Event{Entry: Entry{Index: 3, MaxNew: 100}, Tokens: 90})
	// No request generates more than it may: 10 are left.
	check("3/4 requests, 310 tokens, 31.0 tokens/s, ETA 0s", 310./320)
}

func TestUnknownLengthHasNoEstimate(t *testing.T) {
	tally := NewTally(0, epoch)
	tally.Event(Event{Entry: Entry{MaxNew: 10}})
	tally.Event(Event{Entry: Entry{MaxNew: 10}, Tokens: 5})
	if got := tally.line(epoch.Add(time.Second)); got != "0 requests, 5 tokens, 5.0 tokens/s" || tally.fraction() != 0 {
		t.Errorf("%s, fraction %f", got, tally.fraction())
	}
}

func TestLinesAreSeldom(t *testing.T) {
	var b strings.Builder
	tally := NewTally(2, epoch)
	lines := NewLines(&b, tally)
	now := epoch
	lines.now = func() time.Time { return now }
	for range 120 { // of 100 ms
		now = now.Add(100 * time.Millisecond)
		e := Event{Tokens: 1}
		tally.Event(e)
		if err := lines.Event(e); err != nil {
			t.Fatal(err)
		}
	}
	want := "cbactor: 0/2 requests, 50 tokens, 10.0 tokens/s\ncbactor: 0/2 requests, 100 tokens, 10.0 tokens/s\n"
	if b.String() != want {
		t.Errorf("got %q", b.String())
	}
}

// A run whose cache was too small says so.
func TestSummaryTellsOfWhatWasGivenUp(t *testing.T) {
	for given, want := range map[int]string{0: "", 1: "given up 1 time for", 3: "given up 3 times for lack of cache"} {
		tally := NewTally(1, time.Unix(0, 0))
		tally.Event(Event{Entry: Entry{MaxNew: 4}})
		tally.Event(Event{Tokens: 4, Result: &Result{Preemptions: given, FinishReason: engine.FinishLength, Usage: engine.Usage{CompletionTokens: 4}}})
		told := strings.Join(tally.Summary(time.Unix(1, 0)), "; ")
		if !strings.Contains(told, want) || strings.Contains(told, "given up") != (want != "") {
			t.Errorf("given up %d times: %q", given, told)
		}
	}
}
