package gateway

import (
	"unicode/utf8"

	"github.com/cbactor/cbactor/engine/internal/convert"
	"github.com/cbactor/cbactor/engine/texts"
	"github.com/cbactor/cbactor/messages"
	"github.com/cbactor/cbactor/sampling"
)

// Bounds of what is told of a sequence.
const (
	defaultWindow = 256
	maxWindow     = 1 << 20
	maxNewsIDs    = 1 << 14
	maxNewsBytes  = 256 << 10 // of a News: of what it tells of ids, and of text, each; one id may have more
	maxFlying     = 1 << 20   // bytes of what is told and was not taken, but for the ids
)

// windowOf reads how many tokens may be told that were not taken.
func windowOf(n uint32) int {
	if n == 0 {
		return defaultWindow
	}
	return int(min(n, maxWindow))
}

// room is how many tokens more may be told.
func (q *sequence) room() int {
	if q.flying >= maxFlying {
		return 0
	}
	return max(0, q.window-(q.told.ids-q.taken.ids))
}

// bytes are those of what is told of a token beside its id.
func (q *sequence) bytes(at int) int {
	if at -= q.gone.ids; at >= 0 && at < len(q.drawn) {
		return convert.DrawnBytes(q.drawn[at])
	}
	return 0
}

// news is the next message about the sequence, with about its size; nil: there is nothing to tell,
// or the client has to take some first.
func (q *sequence) news() (*messages.News, int) {
	var c texts.Chunk
	c.Offset = q.told.ids
	some := q.tellIDs(&c)
	var prompt []sampling.Drawn
	if q.told.ids == q.read().ids { // what is certain of all of them goes with the last
		prompt = q.tellPrompt()
		words, caches := q.tellText(&c), q.tellCaches(&c)
		some = q.tellEnd(&c) || some || words || caches || len(prompt) > 0
	}
	if !some {
		return nil, 0
	}
	m := convert.News(c)
	m.Stream, m.Prompt = q.number, convert.Drawn(prompt)
	bytes := newsBytes + idBytes*len(c.TokenIDs) + len(c.Text) + drawnBytes(c.Logprobs) + drawnBytes(prompt)
	if c.Final != nil {
		bytes += momentBytes * len(c.Final.Timing.Tokens)
	}
	return m, bytes
}

// tellIDs tells of as many tokens as there is room for.
func (q *sequence) tellIDs(c *texts.Chunk) bool {
	from, end := q.told.ids, min(q.read().ids, q.told.ids+min(q.room(), maxNewsIDs))
	to, bytes := from, 0
	for to < end && bytes < maxNewsBytes && q.flying < maxFlying {
		n := q.bytes(to)
		to, bytes, q.flying = to+1, bytes+n, q.flying+n
	}
	if to == from {
		return false
	}
	c.TokenIDs = q.ids[from-q.gone.ids : to-q.gone.ids]
	if len(q.drawn) == len(q.ids) {
		c.Logprobs = q.drawn[from-q.gone.ids : to-q.gone.ids]
	}
	if spans := cut(q.weights, from, to); len(spans) > 1 || spans[0].Version != q.version || from == q.first {
		c.WeightVersions = spans
		q.version = spans[len(spans)-1].Version
	}
	q.told.ids = to
	return true
}

// tellText tells what the client does not know of the text, some at a time.
func (q *sequence) tellText(c *texts.Chunk) bool {
	from := q.told.text - q.gone.text
	if !q.words || from == len(q.text) || q.flying >= maxFlying {
		return false
	}
	end := min(len(q.text), from+maxNewsBytes)
	for end < len(q.text) && !utf8.RuneStart(q.text[end]) {
		end--
	}
	c.Text = string(q.text[from:end])
	q.told.text, q.flying = q.told.text+end-from, q.flying+end-from
	return true
}

// tellCaches tells which weights computed the cache, where that has changed.
func (q *sequence) tellCaches(c *texts.Chunk) bool {
	if !q.stale {
		return false
	}
	c.KVVersions, q.stale = q.caches, false
	return true
}

// tellPrompt is what is told next of the prompt's ids, which comes with the end.
func (q *sequence) tellPrompt() []sampling.Drawn {
	if q.final == nil {
		return nil
	}
	list, from, bytes := q.final.PromptLogprobs, q.told.prompt, 0
	for q.told.prompt < len(list) && bytes < maxNewsBytes && q.flying < maxFlying {
		n := convert.DrawnBytes(list[q.told.prompt])
		q.told.prompt, bytes, q.flying = q.told.prompt+1, bytes+n, q.flying+n
	}
	return list[from:q.told.prompt]
}

// tellEnd tells the end, once, behind everything else.
func (q *sequence) tellEnd(c *texts.Chunk) bool {
	if q.final == nil || q.toldEnd || q.told.prompt < len(q.final.PromptLogprobs) || q.words && q.told.text < q.read().text {
		return false
	}
	c.Final, q.toldEnd, q.ended = q.final, true, true
	return true
}
