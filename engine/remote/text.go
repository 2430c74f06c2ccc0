package remote

import (
	"context"
	"strings"
	"sync"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/internal/convert"
	"github.com/cbactor/cbactor/engine/texts"
	"github.com/cbactor/cbactor/messages"
)

var _ texts.Service = (*Client)(nil)

// asked is what a request for text has beside an engine.Request, and where the text of its
// sequences will be.
type asked struct {
	request texts.Request
	texts   []*transcript // nil: the engine has no tokenizer
}

// Encode implements texts.Service.
func (c *Client) Encode(ctx context.Context, p texts.Prompt) ([]int32, error) {
	if p.Text == nil && p.Raw == nil && p.Messages == nil {
		return append([]int32(nil), p.IDs...), nil
	}
	m, err := convert.Encode(p)
	if err != nil {
		return nil, err
	}
	r, err := c.ask(ctx, &call{message: &messages.Call{What: &messages.Call_Encode{Encode: m}}})
	return r.GetIds().GetIds(), err
}

// Decode implements texts.Service.
func (c *Client) Decode(ctx context.Context, ids []int32) (string, error) {
	r, err := c.ask(ctx, &call{message: &messages.Call{What: &messages.Call_Decode{Decode: &messages.Decode{Ids: ids}}}})
	return r.GetWords().GetText(), err
}

// Generate implements texts.Service: prompt and stop strings go as they are, the engine encodes,
// matches and decodes.
func (c *Client) Generate(ctx context.Context, r texts.Request) (texts.Stream, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	if r.Prompt.IDs != nil {
		r.PromptIDs, r.Prompt.IDs = r.Prompt.IDs, nil
	}
	more := &asked{request: r}
	ids, err := c.back.Add(ctx, r.Request, more)
	if err != nil {
		return nil, err
	}
	s := &stream{ids: ids, text: more.at(0)}
	for i, child := range ids.Children() {
		s.children = append(s.children, &stream{ids: child, text: more.at(i + 1)})
	}
	return s, nil
}

// at is the text of a sequence.
func (a *asked) at(i int) *transcript {
	if a.texts == nil {
		return new(transcript)
	}
	return a.texts[i]
}

// transcript is the text of a sequence so far. The link writes it, its reader reads.
type transcript struct {
	mu      sync.Mutex
	pieces  []piece
	length  int // of all text
	stopped string
}

// piece is text that is certain with the tokens before a place.
type piece struct {
	end  int
	text string
}

// add takes the text of a chunk, with which so many tokens have come.
func (t *transcript) add(tokens int, c *texts.Chunk) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c.Text != "" {
		t.pieces = append(t.pieces, piece{tokens, c.Text})
		t.length += len(c.Text)
	}
	if c.Final != nil {
		t.stopped = c.Final.Stopped
	}
}

// waste counts text that is nobody's.
func (t *transcript) waste(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.length += len(text)
}

// bytes are those of the text that has come.
func (t *transcript) bytes() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.length
}

// end is the stop string that was found.
func (t *transcript) end() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.stopped
}

// from is the text of the pieces from one on that are certain with so many tokens, and
// how many pieces there are then.
func (t *transcript) from(read, tokens int) (text string, next int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var b strings.Builder
	for ; read < len(t.pieces) && t.pieces[read].end <= tokens; read++ {
		b.WriteString(t.pieces[read].text)
	}
	return b.String(), read
}

// stream is a texts.Stream over one of ids.
type stream struct {
	ids      *engine.Stream
	text     *transcript
	children []texts.Stream
	read     int // pieces
	final    *texts.Output
}

// ID implements texts.Stream.
func (s *stream) ID() string { return s.ids.ID() }

// Children implements texts.Stream.
func (s *stream) Children() []texts.Stream { return s.children }

// Recv implements texts.Stream.
func (s *stream) Recv(ctx context.Context) (texts.Chunk, error) {
	ids, err := s.ids.Recv(ctx)
	if err != nil {
		return texts.Chunk{}, err
	}
	c := texts.Chunk{Chunk: ids}
	c.Text, s.read = s.text.from(s.read, ids.Offset+len(ids.TokenIDs))
	if ids.Final != nil {
		s.end(*ids.Final)
		c.Final = s.final
	}
	return c, nil
}

// Wait implements texts.Stream.
func (s *stream) Wait(ctx context.Context) texts.Output {
	if s.final == nil {
		s.end(s.ids.Wait(ctx))
	}
	return *s.final
}

func (s *stream) end(out engine.Output) {
	whole, _ := s.text.from(0, len(out.TokenIDs))
	s.final = &texts.Output{Output: out, Text: whole, Stopped: s.text.end()}
}
