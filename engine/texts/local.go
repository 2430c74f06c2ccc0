package texts

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/text"
	"github.com/cbactor/cbactor/text/grammar"
)

// Engine is what a Local needs of an engine.
type Engine interface {
	AddRequest(ctx context.Context, r engine.Request) (*engine.Stream, error)
	Info() engine.Info
}

// Local is a Service over an engine.
type Local struct {
	engine Engine
	codec  *text.Codec // nil: the model takes ids only
	why    error       // then

	grammars *grammar.Cache // nil without a codec
}

var _ Service = (*Local)(nil)

// New makes a service of an engine and the codec of its model; nil: the model has none,
// so that only ids are taken and the text of streams is empty.
func New(e Engine, codec *text.Codec) *Local {
	l := &Local{engine: e, codec: codec, why: text.ErrNoTokenizer}
	if codec != nil {
		l.grammars = grammar.NewCache(codec)
	}
	return l
}

// WithoutText is New for a model without a codec, with the error that text.Load gave
// for one: it is that of all that needs one.
func WithoutText(e Engine, why error) *Local {
	return &Local{engine: e, why: why}
}

// Encode implements Service.
func (l *Local) Encode(_ context.Context, p Prompt) ([]int32, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	switch {
	case p.Text == nil && p.Raw == nil && p.Messages == nil:
		return slices.Clone(p.IDs), nil
	case l.codec == nil:
		return nil, l.why
	case p.Text != nil:
		return encoded(l.codec.Encode(*p.Text))
	case p.Raw != nil:
		return encoded(l.codec.EncodeRaw(*p.Raw))
	}
	return l.codec.EncodeChatWith(p.Messages, p.ChatOptions)
}

// encoded is the answer of a codec, which has none where a pattern had no end.
func encoded(ids []int32) ([]int32, error) {
	if ids == nil {
		return nil, text.ErrPattern
	}
	return ids, nil
}

// Decode implements Service.
func (l *Local) Decode(_ context.Context, ids []int32) (string, error) {
	if l.codec == nil {
		return "", l.why
	}
	return l.codec.Decode(ids), nil
}

// Generate implements Service.
func (l *Local) Generate(ctx context.Context, r Request) (Stream, error) {
	request, reading, err := l.settle(ctx, r)
	if err != nil {
		return nil, err
	}
	s, err := l.engine.AddRequest(ctx, request)
	if err != nil {
		return nil, err
	}
	return reading.stream(s), nil
}

// settle turns a request into one of ids, and into how its text is read.
func (l *Local) settle(ctx context.Context, r Request) (engine.Request, reading, error) {
	out, how := r.Request, reading{codec: l.codec, keep: r.KeepStop}
	err := r.Check()
	if err == nil && r.Prompt.given() > 0 {
		out.PromptIDs, err = l.Encode(ctx, r.Prompt)
	}
	if err == nil {
		out.Sampling.BadWords, err = l.badWords(out.Sampling.BadWords, r.BadWords)
	}
	if err != nil {
		return out, how, err
	}
	how.prompt = out.PromptIDs
	if err := l.endByIDs(&out, &how, r.StopIDs); err != nil {
		return out, how, err
	}
	if err := l.match(ctx, &out, r.Grammar); err != nil {
		return out, how, err
	}
	if len(r.Stop) == 0 {
		return out, how, nil
	}
	if how.codec == nil {
		return out, how, fmt.Errorf("stop: %w", l.why)
	}
	if how.stops, err = text.NewStops(how.codec, r.Stop); err != nil {
		return out, how, err
	}
	out.Stop = func() engine.Matcher {
		m := how.stops.NewMatcher()
		m.After(out.PromptIDs)
		return m
	}
	return out, how, nil
}

// endByIDs has more ids end the request, which are not shown. Its own, else the model's, are
// among them then, unless they are to be ignored.
func (l *Local) endByIDs(r *engine.Request, how *reading, ids []int32) error {
	if len(ids) == 0 {
		return nil
	}
	vocab := l.engine.Info().Vocab
	for _, id := range ids {
		if id < 0 || int(id) >= vocab { // the engine would speak of ends that nobody gave
			return fmt.Errorf("%w: id %d in stop_ids, the vocabulary has %d", engine.ErrVocab, id, vocab)
		}
	}
	r.EOS, r.IgnoreEOS = slices.Concat(l.ends(r), ids), false
	if how.codec != nil {
		how.codec = how.codec.Hiding(ids)
	}
	return nil
}

// ends are the ids that end a request.
func (l *Local) ends(r *engine.Request) []int32 {
	switch {
	case r.IgnoreEOS:
		return nil
	case r.EOS == nil:
		return l.engine.Info().EOS
	}
	return r.EOS
}

// match keeps the text of a request within a grammar, whose end must be able to end it.
func (l *Local) match(ctx context.Context, r *engine.Request, spec *grammar.Spec) error {
	if spec == nil {
		return nil
	}
	if l.codec == nil {
		return fmt.Errorf("grammar: %w", l.why)
	}
	ends := l.ends(r)
	if len(ends) == 0 {
		return fmt.Errorf("%w: a grammar needs ids that end the text: leave ignore_eos out, or give stop ids", engine.ErrParams)
	}
	g, err := l.grammars.Compile(ctx, *spec)
	if err != nil {
		return err
	}
	r.Sampling.Processor = g.NewProcessor(ends)
	return nil
}

// badWords adds to ids that must not be generated those of texts: as the tokenizer writes
// each at the start of a text, and behind a space.
func (l *Local) badWords(ids [][]int32, list []string) ([][]int32, error) {
	if len(list) == 0 {
		return ids, nil
	}
	if l.codec == nil {
		return nil, fmt.Errorf("bad_words: %w", l.why)
	}
	ids = slices.Clone(ids)
	for _, w := range list {
		starts := []string{w}
		if !strings.HasPrefix(w, " ") {
			starts = append(starts, " "+w)
		}
		for _, s := range starts {
			word, err := encoded(l.codec.EncodeRaw(s))
			if err != nil {
				return nil, fmt.Errorf("bad_words: %w", err)
			}
			ids = append(ids, word)
		}
	}
	return ids, nil
}
