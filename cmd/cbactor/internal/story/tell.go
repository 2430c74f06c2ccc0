package story

import (
	"fmt"
	"strings"

	"github.com/cbactor/cbactor/cmd/cbactor/internal/words"
	"github.com/cbactor/cbactor/internal/trace"
)

// Tell tells the story in lines, each with the seconds since the request was queued.
func (s *Story) Tell() []string {
	t := teller{story: s}
	for i, e := range s.Events {
		t.event(i, e)
	}
	t.close()
	if last := len(s.Events) - 1; !s.ended {
		t.say(s.Events[last].Micros, "the trace ends here, and the request is open")
	}
	return t.lines
}

// teller is the telling of one story.
type teller struct {
	story *Story
	lines []string
	run   run
	kept  int // see keep

	computed int    // positions so far, the most that it had
	mode     string // of the engine, the last one heard of
}

func (t *teller) event(i int, e trace.Event) {
	if e.Kind == trace.Chunk {
		t.chunk(e)
		return
	}
	if e.Kind != trace.First { // it stands between the chunks of two plans in flight
		t.close()
	}
	switch e.Kind {
	case trace.Started, trace.Back, trace.Forked:
		t.keep(e)
		t.computed = max(t.computed, e.Cached)
	}
	switch e.Kind {
	case trace.Queued:
		t.say(e.Micros, "%s, with a prompt of %s and %s to generate", place(e), words.Count(e.Prompt, "token"), limit(e))
		t.unseen(i, e)
	case trace.Waits:
		t.say(e.Micros, "%s%s", t.lasted(i, e), t.why(e))
	case trace.Started:
		t.say(e.Micros, "started in step %d%s", e.Step, t.found(e))
	case trace.Back:
		t.say(e.Micros, "back in step %d%s", e.Step, t.found(e))
	case trace.Forked:
		t.say(e.Micros, "forked from %s in step %d, behind %s", name(e.Of), e.Step, words.Count(e.Cached, "token"))
	case trace.First:
		t.say(e.Micros, "its first token, of step %d", e.Step)
	case trace.Preempted:
		t.preempted(i, e)
	case trace.Ended:
		t.say(e.Micros, "%s", t.ended(e))
	case trace.Mode:
		t.modes(i, e)
	case trace.Weights:
		t.say(e.Micros, "%s", t.weights(e))
	case trace.Lost:
		t.say(e.Micros, "here %s missing, of this request or others", are(e.Count, "event"))
	}
}

func (t *teller) say(micros int64, format string, args ...any) {
	t.lines = append(t.lines, t.line(micros, fmt.Sprintf(format, args...)))
}

func (t *teller) line(micros int64, sentence string) string {
	return fmt.Sprintf("%10s  %s", Seconds(micros-t.story.queued), sentence)
}

func (t *teller) preempted(i int, e trace.Event) {
	switch e.Why {
	case trace.Emptied:
		t.say(e.Micros, "given up behind step %d as all were, to empty the cache; to be computed again", e.Step)
	case trace.Renewed:
		t.say(e.Micros, "given up behind step %d: its cache is of weights before; to be computed again", e.Step)
	default:
		t.say(e.Micros, "given up in step %d for %s: %s", e.Step, name(e.For), given(e))
		t.unseen(i, e)
	}
}

// shown is the shortest time that is told, in microseconds.
const shown = 1000

// unseen tells how long no plan looked at the request after event number i, in line or
// given up: for steps that were handed over before, or for older ones.
func (t *teller) unseen(i int, e trace.Event) {
	next, found := t.next(i)
	switch {
	case found && (next.Kind == trace.Ended || next.Micros-e.Micros < shown):
	case e.Of != "":
		t.say(e.Micros, "%s for the prompt of %s", t.lasted(i, e), name(e.Of))
	default:
		t.say(e.Micros, "%s until a plan came to it", t.lasted(i, e))
	}
}

// next is the request's event after number i.
func (t *teller) next(i int) (e trace.Event, found bool) {
	for _, e := range t.story.Events[i+1:] {
		if e.ID != "" {
			return e, true
		}
	}
	return e, false
}

// lasted says how long the wait from event number i lasted.
func (t *teller) lasted(i int, e trace.Event) string {
	if next, found := t.next(i); found {
		return "waited " + Seconds(next.Micros-e.Micros)
	}
	return "waits to the end of the trace"
}

// why is the reason of a wait.
func (t *teller) why(e trace.Event) string {
	switch e.Why {
	case trace.NoSlot:
		return " for one of the " + words.Count(t.story.Header.Slots, "place") + " (max_requests_per_batch), all of them taken"
	case trace.NoRoom:
		return " for room in the cache, " + words.Count(e.Missing, "block") + " short at first"
	case trace.Behind:
		return " behind " + name(e.On) + ", which did not have room"
	case trace.Page:
		return " because " + name(e.On) + " was computing its next block"
	case trace.Budget:
		return " because the budget of the steps was used up"
	}
	return ""
}

// found says where the beginning of a life comes from.
func (t *teller) found(e trace.Event) string {
	switch {
	case e.FromHost > 0:
		return " with " + words.Count(e.FromHost, "token") + " from the host pool"
	case e.Cached > 0 && e.Kind == trace.Started:
		return fmt.Sprintf(" with %d of %s from shared blocks", e.Cached, words.Count(t.story.Prompt, "token"))
	case e.Cached > 0:
		return " with " + words.Count(e.Cached, "token") + " from shared blocks"
	case e.Kind == trace.Back:
		return " with nothing kept"
	}
	return ""
}

func place(e trace.Event) string {
	switch {
	case e.Of != "":
		return "queued as a further sequence of " + name(e.Of)
	case e.Ahead > 0:
		return "queued behind " + words.Count(e.Ahead, "waiting request")
	}
	return "queued, first in line"
}

func limit(e trace.Event) string {
	if e.MaxNew == 0 { // it is only scored
		return "nothing"
	}
	return fmt.Sprintf("at most %d", e.MaxNew)
}

func given(e trace.Event) string {
	if e.How == trace.ToHost {
		return words.Count(e.Blocks, "block") + " went to the host pool"
	}
	return words.Count(e.Blocks, "block") + " given back, to be computed again"
}

func (t *teller) ended(e trace.Event) string {
	var b strings.Builder
	fmt.Fprintf(&b, "ended: %s", Printable(e.Reason))
	if e.Matched {
		b.WriteString(" by a match")
	}
	fmt.Fprintf(&b, ", %s generated", words.Count(e.Tokens, "token"))
	if e.Preemptions > 0 {
		fmt.Fprintf(&b, ", given up %s", words.Count(e.Preemptions, "time"))
	}
	if n := t.story.vain(); n > 0 {
		fmt.Fprintf(&b, ", %s computed in vain before the end was known", words.Count(n, "further position"))
	}
	if e.Error != "" {
		fmt.Fprintf(&b, ": %s", Printable(e.Error))
	}
	return b.String()
}
