package server

import (
	"net/http"
	"slices"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/texts"
)

// account is what is known of a request of HTTP when it has been answered, for the log, the
// metrics and traces. It has neither prompts nor texts nor keys. One goroutine at a time has it.
type account struct {
	id     string // of the request
	begun  time.Time
	route  string     // as mux.go has it; "": none
	failed *refusal   // that the client was told in the place of an answer, or of its end; nil: none
	span   trace.Span // nil: it is not traced
	held   int64      // bytes of its body

	model     string          // or adapter, as it was asked for; "": nothing was to be generated
	meters    *sequenceMeters // of the model
	asked     *texts.Request  // that all its prompts share
	usage     usage
	timing    engine.Timing // of all its sequences together, without Tokens
	sequences int
	finishes  map[string]int // sequences, by why they ended
	versions  []string       // of weights that sampled its tokens, as they came
}

// maxVersions is how many versions of weights an account tells of.
const maxVersions = 16

// accountKey is under which the context of a request has its account.
type accountKey struct{}

func accountOf(r *http.Request) *account { return r.Context().Value(accountKey{}).(*account) }

// ended notes how a sequence has ended.
func (a *account) ended(sequence int, out *texts.Output) {
	a.usage.add(sequence, max(a.asked.N, 1), out)
	a.sequences++
	if a.finishes == nil {
		a.finishes = map[string]int{}
	}
	a.finishes[string(out.FinishReason)]++
	for _, span := range out.WeightVersions {
		if len(a.versions) < maxVersions && !slices.Contains(a.versions, span.Version) {
			a.versions = append(a.versions, span.Version)
		}
	}
	t := &a.timing
	t.Created, t.Started, t.First = earliest(t.Created, out.Timing.Created), earliest(t.Started, out.Timing.Started), earliest(t.First, out.Timing.First)
	if out.Timing.Ended.After(t.Ended) {
		t.Ended = out.Timing.Ended
	}
	a.meters.observe(a.asked, out)
	a.traceEnd(sequence, out)
}

// earliest is the earlier one of two moments of which either may not have been.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// since is how long after a the moment b was; false: one of them was not.
func since(a, b time.Time) (time.Duration, bool) {
	return b.Sub(a), !a.IsZero() && !b.IsZero()
}
