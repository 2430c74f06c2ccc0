package show

import (
	"fmt"
	"time"

	"github.com/cbactor/cbactor/cmd/cbactor/internal/words"
	"github.com/cbactor/cbactor/engine"
)

// Tally counts a run.
type Tally struct {
	total   int  // requests of the run; 0: not known
	skipped int  // of these, done before it
	several bool // a request has more texts than one
	start   time.Time

	sampling, limit string // see Describe

	begun, ended, failed, cancelled, late int
	aborted, stale                        int
	more                                  int // of those that ended, further texts of a request
	cut                                   int // ended by the limit
	preemptions                           int // times that requests were given up

	prompt, cached, generated int // tokens
	mayGenerate               int // tokens, all that began
	openMay, openGenerated    int // tokens, of the requests that have not ended

	first      time.Duration // sum of the times to the first token
	firstCount int
}

// NewTally begins the count of a run of total requests, 0 when that is not known.
func NewTally(total int, start time.Time) *Tally { return &Tally{total: total, start: start} }

// Start sets when the run began, from which rates are counted.
func (t *Tally) Start(now time.Time) { t.start = now }

// Describe tells what the summary says of the run beside the counts: how tokens are
// drawn, and what ends an answer that may have had more of them.
func (t *Tally) Describe(sampling, limit string) { t.sampling, t.limit = sampling, limit }

// Skip counts a request that was done in an earlier run.
func (t *Tally) Skip() { t.skipped++ }

// Event counts an event.
func (t *Tally) Event(e Event) {
	t.generated += e.Tokens
	t.openGenerated += e.Tokens
	if e.Begins() {
		t.begun++
		t.several = t.several || e.Entry.More
		if e.Entry.More && t.total > 0 {
			t.total++
		}
		t.mayGenerate += e.Entry.MaxNew
		t.openMay += e.Entry.MaxNew
	}
	if e.Result != nil {
		t.end(e.Entry, e.Result)
	}
}

func (t *Tally) end(entry Entry, r *Result) {
	t.ended++
	if entry.More {
		t.more++
	}
	t.openMay -= entry.MaxNew
	t.openGenerated -= r.Usage.CompletionTokens
	t.prompt += r.Usage.PromptTokens
	t.cached += r.Usage.CachedTokens
	t.preemptions += r.Preemptions
	switch r.FinishReason {
	case engine.FinishFailed:
		t.failed++
	case engine.FinishCancelled:
		t.cancelled++
	case engine.FinishDeadline:
		t.late++
	case engine.FinishAborted:
		t.aborted++
	case engine.FinishStale:
		t.stale++
	}
	if cut(entry, r) {
		t.cut++
	}
	if r.FirstToken > 0 {
		t.first += r.FirstToken
		t.firstCount++
	}
}

// Failed is the number of requests that failed.
func (t *Tally) Failed() int { return t.failed }

// Ended is the number of texts that have ended, as results or as failures.
func (t *Tally) Ended() int { return t.ended }

// Ran says whether there is anything to sum up: not when the only request was refused.
func (t *Tally) Ran() bool { return t.ended+t.skipped != 1 || t.failed == 0 || t.generated > 0 }

// rate is tokens generated a second since the start.
func (t *Tally) rate(now time.Time) float64 {
	seconds := now.Sub(t.start).Seconds()
	if seconds <= 0 {
		return 0
	}
	return float64(t.generated) / seconds
}

// remaining estimates the tokens that are still to come. A request generates what
// it may, or, once some have ended, as many as came for each end so far, which is
// what ends at a constant rate are estimated by. known is false when the run's
// length is not known.
func (t *Tally) remaining() (tokens float64, known bool) {
	if t.total == 0 || t.begun == 0 {
		return 0, false
	}
	each := float64(t.mayGenerate) / float64(t.begun)
	if t.ended > 0 {
		each = min(each, float64(t.generated)/float64(t.ended))
	}
	open := min(each*float64(t.begun-t.ended), float64(t.openMay-t.openGenerated))
	return open + each*float64(max(0, t.total-t.skipped-t.begun)), true
}

// fraction is how much of the run is done, from 0 to 1; 0 when that is not known.
func (t *Tally) fraction() float64 {
	left, known := t.remaining()
	if !known || t.generated == 0 {
		return 0
	}
	return float64(t.generated) / (float64(t.generated) + left)
}

// eta estimates the time that is left.
func (t *Tally) eta(now time.Time) (left time.Duration, known bool) {
	tokens, known := t.remaining()
	rate := t.rate(now)
	if !known || rate == 0 {
		return 0, false
	}
	return time.Duration(tokens / rate * float64(time.Second)).Round(time.Second), true
}

// line is how far the run is.
func (t *Tally) line(now time.Time) string { return t.requests() + ", " + t.speed(now) }

// speed is how fast it goes and how long it will take.
func (t *Tally) speed(now time.Time) string {
	s := fmt.Sprintf("%s, %.1f tokens/s", words.Count(t.generated, "token"), t.rate(now))
	if left, known := t.eta(now); known {
		s += fmt.Sprintf(", ETA %v", left)
	}
	return s
}

// requests is how many are done, and of how many when that is known: texts, where
// requests have several.
func (t *Tally) requests() string {
	done, what := t.ended+t.skipped, t.each()
	if t.total == 0 {
		return words.Count(done, what)
	}
	return fmt.Sprintf("%d/%s", done, words.Count(t.total, what))
}
