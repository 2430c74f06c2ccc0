package gateway

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"google.golang.org/protobuf/proto"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/internal/convert"
	"github.com/cbactor/cbactor/engine/texts"
	"github.com/cbactor/cbactor/messages"
)

// request is one that was asked for by Generate.
type request struct {
	id        string // for the client
	name      string // for the engine
	asked     *messages.Request
	window    int
	text      bool
	calls     []*call // that wait for it
	sequences []*sequence
	accepted  *messages.Accepted // nil: it is not yet
	cancelled bool               // before it was accepted
	cancel    context.CancelFunc
	left      int // sequences that the client has not read to their end
}

// generate asks for tokens. A request with an id that is there already, and the same, is that
// one again.
func (g *guest) generate(c *call, m *messages.Generate) error {
	ask, err := convert.RequestOf(m.GetRequest())
	if err != nil {
		return err
	}
	if r := g.requests[ask.ID]; r != nil && proto.Equal(r.asked, m.GetRequest()) {
		g.again(c, r)
		return nil
	}
	if n := min(cmp.Or(ask.MaxNewTokens, g.context), g.context); ask.Timestamps && n > maxMoments {
		return fmt.Errorf("%w: timestamps of %d tokens, there may be %d", engine.ErrParams, n, maxMoments)
	}
	n := min(max(ask.N, 1), maxSequences)
	if id, is := g.occupied(ask.ID, n); is {
		return fmt.Errorf("%w: %.80q, of a request that is not read to its end", engine.ErrDuplicateID, id)
	}
	if have := len(g.streams) + g.pending; have+n > g.options.Limits.Sequences {
		return fmt.Errorf("%w: %d sequences are open or not read to their end, there may be %d", convert.ErrLimit, have, g.options.Limits.Sequences)
	}
	if limit := g.options.Limits.Unread; g.unread > limit {
		return fmt.Errorf("%w: %d bytes of sequences were not taken, there may be %d", convert.ErrLimit, g.unread, limit)
	}
	r := &request{id: ask.ID, asked: m.GetRequest(), window: windowOf(m.GetWindow()), text: m.GetText(), calls: []*call{c}, cancel: c.cancel}
	g.name(r, &ask)
	c.request = r
	g.submit(c, r, ask, n)
	return nil
}

// submit has the engine take a request of n sequences.
func (g *guest) submit(c *call, r *request, ask texts.Request, n int) {
	g.pending += n
	var prompt []int32
	var stream texts.Stream
	g.start(c, nil, job{
		run: func(ctx context.Context) (_ *messages.Reply, err error) {
			if ask.PromptIDs == nil {
				if prompt, err = g.texts.Encode(ctx, ask.Prompt); err != nil {
					return nil, err
				}
				if len(prompt) > maxPrompt {
					return nil, fmt.Errorf("%w: a prompt of %d tokens, there may be %d where it is text", engine.ErrTooLong, len(prompt), maxPrompt)
				}
				ask.PromptIDs, ask.Prompt = prompt, texts.Prompt{}
			}
			stream, err = g.texts.Generate(ctx, ask)
			return nil, err
		},
		done: func(_ *messages.Reply, err error, _ *call) bool {
			g.pending -= n
			if err != nil {
				g.refuse(r, err)
			} else {
				g.accept(r, stream, prompt)
			}
			return false
		},
	})
}

// Bounds of a request.
const (
	maxSequences = 128     // more are the engine's to refuse
	maxPrompt    = 400_000 // ids, where they are told: what answers has room for them
	maxMoments   = 300_000 // tokens with timestamps: an end has room for them
)

// again answers a call for a request that is there already.
func (g *guest) again(c *call, r *request) {
	c.request = r
	if r.accepted == nil {
		r.calls = append(r.calls, c)
		return
	}
	g.answer(c, acceptedReply(r.accepted), nil)
	g.attachAll(r)
}

func acceptedReply(m *messages.Accepted) *messages.Reply {
	return &messages.Reply{What: &messages.Reply_Accepted{Accepted: m}}
}

// refuse forgets a request that the engine does not take.
func (g *guest) refuse(r *request, err error) {
	if g.requests[r.id] == r {
		delete(g.requests, r.id)
	}
	for _, c := range r.calls {
		g.answer(c, nil, unnamed{err, r.name})
	}
	r.calls = nil
}

// accept enters the sequences of a request that the engine has taken.
func (g *guest) accept(r *request, stream texts.Stream, prompt []int32) {
	r.accepted = &messages.Accepted{Prompt: convert.IDs(prompt)}
	for _, s := range append([]texts.Stream{stream}, stream.Children()...) {
		q := g.enter(r, s)
		r.sequences = append(r.sequences, q)
		r.accepted.Sequences = append(r.accepted.Sequences, &messages.Sequence{Stream: q.number, Id: q.id})
	}
	r.left = len(r.sequences)
	r.calls[0].kept = true
	for _, c := range r.calls {
		g.answer(c, acceptedReply(r.accepted), nil)
	}
	r.calls = nil
	if r.cancelled {
		r.cancel()
	}
	g.attachAll(r)
}

// cancelRequest ends a request with all its sequences, also those that go on after its own end,
// or a sequence alone.
func (g *guest) cancelRequest(c *call, m *messages.Cancel) error {
	q, r := g.names[m.GetId()], g.requests[m.GetId()]
	switch {
	case r != nil && r.accepted == nil: // the engine has it, or will
		r.cancelled = true
		g.engine.Cancel(r.name)
	case r != nil:
		r.cancel()
	case q != nil:
		g.engine.Cancel(q.name)
	}
	g.answer(c, nil, nil)
	return nil
}

// attach has a sequence tell its news over this connection.
func (g *guest) attach(c *call, m *messages.Attach) error {
	q := g.names[m.GetId()]
	if q == nil {
		return fmt.Errorf("%w: %.80q", engine.ErrUnknownID, m.GetId())
	}
	from := progress{ids: int(m.GetOffset()), text: int(min(m.GetTextOffset(), math.MaxInt))}
	if read := q.read(); from.ids > read.ids || from.text > read.text {
		return fmt.Errorf("%w: from token %d and byte %d of %q on, which has told of %d and %d", engine.ErrParams, from.ids, from.text, q.id, read.ids, read.text)
	}
	if from.ids < q.gone.ids || m.GetText() && from.text < q.gone.text {
		return fmt.Errorf("%w: from token %d and byte %d of %q on: it was taken before %d and %d", engine.ErrParams, from.ids, from.text, q.id, q.gone.ids, q.gone.text)
	}
	g.answer(c, acceptedReply(&messages.Accepted{Sequences: []*messages.Sequence{{Stream: q.number, Id: q.id}}}), nil)
	from.text = max(from.text, q.gone.text)
	q.attach(from, windowOf(m.GetWindow()), m.GetText())
	g.advance(q)
	return nil
}

// attachAll attaches all sequences of a request that the client does not hear yet, from what was not
// taken on.
func (g *guest) attachAll(r *request) {
	for _, q := range r.sequences {
		if g.streams[q.number] == q && !q.attached && g.client != nil {
			q.attach(q.gone, r.window, r.text)
			g.advance(q)
		}
	}
}
