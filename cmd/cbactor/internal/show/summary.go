package show

import (
	"fmt"
	"strings"
	"time"

	"github.com/cbactor/cbactor/cmd/cbactor/internal/words"
)

// Summary is what to say of a run at its end, line by line.
func (t *Tally) Summary(now time.Time) []string {
	lines := []string{t.counts(now)}
	if t.cut > 0 {
		lines = append(lines, fmt.Sprintf("%s ended before the tokens asked for, by %s", words.Count(t.cut, t.each()), t.limit))
	}
	if t.preemptions > 0 {
		lines = append(lines, fmt.Sprintf("requests were given up %s for lack of cache: more of it is --num-blocks, or --cpu-offload-space keeps theirs", words.Count(t.preemptions, "time")))
	}
	if t.sampling != "" && t.generated > 0 {
		lines = append(lines, "sampling: "+t.sampling)
	}
	return lines
}

// each is what has a result.
func (t *Tally) each() string {
	if t.several {
		return "text"
	}
	return "request"
}

// counts is what a run did.
func (t *Tally) counts(now time.Time) string {
	var b strings.Builder
	b.WriteString(words.Count(t.ended-t.more, "request"))
	if t.several {
		b.WriteString(", " + words.Count(t.ended, "text"))
	}
	for _, part := range []struct {
		n    int
		what string
	}{{t.failed, "failed"}, {t.cancelled, "cancelled"}, {t.late, "out of time"}, {t.aborted, "aborted"}, {t.stale, "stale"}, {t.skipped, "skipped as done"}} {
		if part.n > 0 {
			fmt.Fprintf(&b, ", %d %s", part.n, part.what)
		}
	}
	fmt.Fprintf(&b, "; %s (%d cached), %d generated in %.2f s: %.1f tokens/s", words.Count(t.prompt, "prompt token"), t.cached,
		t.generated, now.Sub(t.start).Seconds(), t.rate(now))
	if t.firstCount > 0 {
		fmt.Fprintf(&b, "; first token after %v", (t.first / time.Duration(t.firstCount)).Round(100*time.Microsecond))
		if t.firstCount > 1 {
			b.WriteString(" on average")
		}
	}
	return b.String()
}
