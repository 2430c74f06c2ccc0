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

// sequence is one of a request's, with all that was read of it, and how far that was told over
// the connection that there is.
type sequence struct {
	number  uint64 // its stream's
	id      string // for the client
	name    string // for the engine
	request *request
	pump    *pump
	reading bool // the pump reads a chunk

	ids     []int32
	drawn   []sampling.Drawn
	text    []byte
	weights []engine.VersionSpan
	caches  []engine.VersionSpan // as last told
	final   *texts.Output
	ended   bool // the end was told, over some connection

	attached bool // the client hears of it over this connection
	words    bool // text is told
	window   int
	told     progress
	taken    progress
	flying   int    // bytes of what is told of tokens and prompt, and not taken
	first    int    // token that was told first
	version  string // of the weights that sampled the token told last
	stale    bool   // caches have changed since they were told
	toldEnd  bool
}

// progress is how far a sequence was told.
type progress struct{ ids, prompt, text int }

// enter makes a sequence of a stream, and has its pump wait.
func (g *guest) enter(r *request, s texts.Stream) *sequence {
	g.numbers++
	q := &sequence{number: g.numbers, id: strings.TrimPrefix(s.ID(), g.entry.prefix), name: s.ID(), request: r}
	q.pump = &pump{stream: s, sequence: q, guest: g.self, root: g.system.Root, life: g.life, more: make(chan struct{}, 1)}
	g.streams[q.number], g.names[q.id] = q, q
	g.running.Go(q.pump.run)
	return q
}

// attach begins to tell the client, from a token on.
func (q *sequence) attach(offset, window int, words bool) {
	q.attached, q.window, q.words = true, window, words
	q.told, q.taken = progress{ids: offset}, progress{ids: offset}
	q.flying, q.first, q.stale, q.toldEnd = 0, offset, len(q.caches) > 0, false
}

// arrived takes a chunk that the pump has read.
func (g *guest) arrived(m *arrived) {
	q := m.sequence
	q.reading = false
	q.take(m.chunk)
	g.advance(q)
	if !q.reading {
		g.drained(q, math.MaxUint64)
	}
}

// take enters a chunk.
func (q *sequence) take(c texts.Chunk) {
	q.ids, q.drawn, q.text = append(q.ids, c.TokenIDs...), append(q.drawn, c.Logprobs...), append(q.text, c.Text...)
	q.weights = appendSpans(q.weights, c.WeightVersions, len(q.ids))
	if c.KVVersions != nil {
		q.caches, q.stale = c.KVVersions, true
	}
	q.final = c.Final
}

// advance tells what may be told, and has more read when all was.
func (g *guest) advance(q *sequence) {
	if q.attached {
		for m := q.news(); m != nil; m = q.news() {
			g.tell(m)
		}
	}
	if !q.reading && q.final == nil && q.attached && q.told.ids == len(q.ids) && q.room() > 0 {
		q.reading = true
		q.pump.let()
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
	for q.taken.ids < min(int(m.GetOffset()), q.told.ids) {
		q.flying -= q.bytes(q.taken.ids)
		q.taken.ids++
	}
	for q.taken.prompt < min(int(m.GetPrompt()), q.told.prompt) {
		q.flying -= convert.DrawnBytes(q.final.PromptLogprobs[q.taken.prompt])
		q.taken.prompt++
	}
	g.advance(q)
}

// remove forgets a sequence that was read to its end.
func (g *guest) remove(q *sequence) {
	delete(g.streams, q.number)
	delete(g.names, q.id)
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
