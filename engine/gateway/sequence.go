package gateway

import (
	"math"
	"strings"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/internal/convert"
	"github.com/cbactor/cbactor/engine/texts"
	"github.com/cbactor/cbactor/messages"
	"github.com/cbactor/cbactor/sampling"
)

// sequence is one of a request's, with all that was read of it and that its client has not taken,
// and how far that was told over the connection that there is.
type sequence struct {
	number  uint64 // its stream's
	id      string // for the client
	name    string // for the engine
	request *request
	pump    *pump // nil: all is read

	gone    progress // what was taken, and is not here any more
	ids     []int32
	drawn   []sampling.Drawn // none, or one for each of ids
	text    []byte
	weights []engine.VersionSpan // of all tokens
	caches  []engine.VersionSpan // as last told
	final   *texts.Output        // without what came before
	unread  int                  // bytes of what is here
	failed  error                // it was cancelled because of it; nil: it was not
	ended   bool                 // the end was told, over some connection

	attached bool // the client hears of it over this connection
	blocked  bool // it is among the guest's blocked ones
	words    bool // text is told
	window   int
	told     progress
	taken    progress
	flying   int    // bytes of what is told and not taken, but for the ids
	first    int    // token that was told first
	version  string // of the weights that sampled the token told last
	stale    bool   // caches have changed since they were told
	toldEnd  bool
}

// progress is how far a sequence was told.
type progress struct{ ids, prompt, text int }

// enter makes a sequence of a stream, and has its pump read.
func (g *guest) enter(r *request, s texts.Stream) *sequence {
	g.numbers++
	q := &sequence{number: g.numbers, id: strings.TrimPrefix(s.ID(), g.entry.prefix), name: s.ID(), request: r}
	q.pump = &pump{stream: s, sequence: q, guest: g.self, root: g.system.Root, life: g.life, more: make(chan struct{}, 1)}
	g.streams[q.number], g.names[q.id] = q, q
	g.running.Go(q.pump.run)
	q.pump.let()
	return q
}

// read is how much was read of it.
func (q *sequence) read() progress {
	p := progress{ids: q.gone.ids + len(q.ids), text: q.gone.text + len(q.text)}
	if q.final != nil {
		p.prompt = len(q.final.PromptLogprobs)
	}
	return p
}

// attach begins to tell the client, from places on.
func (q *sequence) attach(from progress, window int, words bool) {
	q.attached, q.window, q.words = true, window, words
	q.told, q.taken = from, from
	q.flying, q.first, q.stale, q.toldEnd = 0, from.ids, len(q.caches) > 0, false
}

// arrived takes a chunk that the pump has read.
func (g *guest) arrived(m *arrived) {
	q := m.sequence
	if g.streams[q.number] == q {
		g.unread += q.take(m.chunk)
		g.bound(q)
		g.advance(q)
	}
	if m.chunk.Final != nil {
		q.pump = nil
		g.drained(q, math.MaxUint64)
		return
	}
	q.pump.let()
}

// take enters a chunk, and tells how much larger the sequence is.
func (q *sequence) take(c texts.Chunk) (more int) {
	q.ids, q.drawn, q.text = append(q.ids, c.TokenIDs...), append(q.drawn, c.Logprobs...), append(q.text, c.Text...)
	q.weights = appendSpans(q.weights, c.WeightVersions, q.read().ids)
	if c.KVVersions != nil {
		q.caches, q.stale = c.KVVersions, true
	}
	more = idBytes*len(c.TokenIDs) + len(c.Text) + drawnBytes(c.Logprobs)
	if c.Final != nil {
		more += drawnBytes(c.Final.PromptLogprobs) + momentBytes*len(c.Final.Timing.Tokens)
		q.end(c.Final)
	}
	q.unread += more
	return more
}

// end enters the end. What it says again is not kept.
func (q *sequence) end(out *texts.Output) {
	final := *out
	final.PromptIDs, final.TokenIDs, final.Logprobs, final.Text = nil, nil, nil, ""
	if q.failed != nil {
		final.FinishReason, final.Err = engine.FinishFailed, q.failed
	}
	q.final = &final
}

// advance tells what may be told.
func (g *guest) advance(q *sequence) {
	for q.attached && g.room(q) {
		m, bytes := q.news()
		if m == nil {
			return
		}
		g.tell(m)
		g.wrote(bytes)
	}
}

// taken notes what the client has taken.
func (g *guest) taken(m *messages.Taken) {
	q := g.streams[m.GetStream()]
	if q == nil {
		return
	}
	if m.GetDone() && q.ended {
		g.remove(q)
		return
	}
	if !q.attached {
		return
	}
	for q.taken.prompt < min(int(m.GetPrompt()), q.told.prompt) {
		q.flying -= convert.DrawnBytes(q.final.PromptLogprobs[q.taken.prompt])
		q.taken.prompt++
	}
	to := progress{ids: min(int(m.GetOffset()), q.told.ids), text: int(min(m.GetText(), uint64(q.told.text)))}
	for q.taken.ids < to.ids {
		q.flying -= q.bytes(q.taken.ids)
		q.taken.ids++
	}
	if to.text > q.taken.text {
		q.flying -= to.text - q.taken.text
		q.taken.text = to.text
	}
	g.unread -= q.drop(to)
	g.advance(q)
}

// drop lets go of what lies before places, and tells how much that is.
func (q *sequence) drop(to progress) (bytes int) {
	ids, text := max(0, to.ids-q.gone.ids), max(0, to.text-q.gone.text)
	bytes = idBytes*ids + text
	if len(q.drawn) > 0 {
		bytes += drawnBytes(q.drawn[:ids])
		clear(q.drawn[:ids])
		q.drawn = q.drawn[ids:]
	}
	q.ids, q.text = q.ids[ids:], q.text[text:]
	q.gone.ids, q.gone.text, q.unread = q.gone.ids+ids, q.gone.text+text, q.unread-bytes
	return bytes
}

// remove forgets a sequence that was read to its end.
func (g *guest) remove(q *sequence) {
	delete(g.streams, q.number)
	delete(g.names, q.id)
	g.unread -= q.unread
	g.settleDrains()
	r := q.request
	if r.left--; r.left == 0 {
		r.cancel()
		r.sequences = nil // an answer that is kept needs no more of them
		if g.requests[r.id] == r {
			delete(g.requests, r.id)
		}
	}
}
