package story

import (
	"fmt"

	"github.com/cbactor/cbactor/cmd/cbactor/internal/words"
	"github.com/cbactor/cbactor/internal/trace"
)

// run is chunks that are told in one sentence: of the prompt, or of generating.
type run struct {
	line            int   // of the story
	began, until    int64 // when its steps were handed over
	decode          bool
	chunks          int
	first, last     uint64 // steps
	start, next     int    // positions
	largest, blocks int
	rows            int // most in a step
	epoch           uint32
}

// chunk adds to the run, or begins another one. A run stands where it began.
func (t *teller) chunk(e trace.Event) {
	decode := e.Count == 1 && e.Start >= t.story.Prompt
	if r := &t.run; r.chunks > 0 && (r.decode != decode || r.next != e.Start || r.epoch != e.Epoch) {
		t.close()
	}
	r := &t.run
	if r.chunks == 0 {
		*r = run{line: len(t.lines), began: e.Micros, decode: decode, first: e.Step, start: e.Start, epoch: e.Epoch}
		t.lines = append(t.lines, "")
	}
	r.chunks++
	t.computed = max(t.computed, e.Start+e.Count)
	r.last, r.next, r.until = e.Step, e.Start+e.Count, e.Micros
	r.largest, r.blocks, r.rows = max(r.largest, e.Count), r.blocks+max(0, e.Blocks-t.kept), max(r.rows, e.Rows)
	t.kept = 0
}

// keep notes the blocks that a life begins with, which the event of its first chunk
// counts, too: full ones from shared blocks, and all that come from the host pool.
func (t *teller) keep(e trace.Event) {
	if page := t.story.Header.PageSize; page > 0 {
		t.kept = max(0, e.Cached/page) + max(0, (e.FromHost+page-1)/page)
	}
}

// close tells the run, if there is one.
func (t *teller) close() {
	if t.run.chunks > 0 {
		sentence := t.run.String()
		if t.run.epoch > 1 {
			sentence += ", with " + t.story.history.name(t.run.epoch)
		}
		if t.run.chunks > 1 {
			sentence += ", the last of them begun at " + Seconds(t.run.until-t.story.queued)
		}
		t.lines[t.run.line] = t.line(t.run.began, sentence)
		t.run = run{}
	}
}

func (r *run) String() string {
	s := fmt.Sprintf("computed %s from position %d on in step %d", words.Count(r.next-r.start, "token"), r.start, r.first)
	switch {
	case r.decode:
		s = fmt.Sprintf("generated from position %d on in %s", r.start, steps(r))
	case r.chunks > 1:
		s = fmt.Sprintf("computed %s from position %d on in %d chunks of at most %d, steps %d to %d", words.Count(r.next-r.start, "token"), r.start, r.chunks, r.largest, r.first, r.last)
	}
	if r.blocks > 0 {
		s += ", for " + words.Count(r.blocks, "more block")
	}
	switch {
	case r.rows == 2:
		s += ", beside one other"
	case r.rows > 2:
		s += fmt.Sprintf(", beside up to %d others", r.rows-1)
	}
	return s
}

func steps(r *run) string {
	if r.first == r.last {
		return fmt.Sprintf("step %d", r.first)
	}
	return fmt.Sprintf("%d steps from %d to %d", r.chunks, r.first, r.last)
}
