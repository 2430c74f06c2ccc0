package texts

import (
	"context"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/text"
)

// reading is how the ids of a request become text.
type reading struct {
	codec  *text.Codec // nil: they do not
	prompt []int32     // what they follow
	stops  *text.Stops // nil: none
	keep   bool        // the stop string is part of the text
}

// stream reads a stream of ids, and its children, so.
func (r reading) stream(ids *engine.Stream) *stream {
	s := &stream{ids: ids, session: r.session()}
	for _, child := range ids.Children() {
		s.children = append(s.children, &stream{ids: child, session: r.session()})
	}
	return s
}

func (r reading) session() *text.Session {
	var s *text.Session
	if r.stops == nil {
		s = text.NewSession(r.codec)
	} else {
		s = r.stops.NewSession(r.keep)
	}
	s.After(r.prompt)
	return s
}

// stream is a Stream over one of ids.
type stream struct {
	ids      *engine.Stream
	session  *text.Session
	children []Stream
	read     int     // ids
	final    *Output // nil: it was not read yet
}

// ID implements Stream.
func (s *stream) ID() string { return s.ids.ID() }

// Children implements Stream.
func (s *stream) Children() []Stream { return s.children }

// Recv implements Stream.
func (s *stream) Recv(ctx context.Context) (Chunk, error) {
	ids, err := s.ids.Recv(ctx)
	if err != nil {
		return Chunk{}, err
	}
	c := Chunk{Chunk: ids, Text: s.session.Push(ids.TokenIDs)}
	s.read += len(ids.TokenIDs)
	if ids.Final != nil {
		c.Text += s.end(*ids.Final)
		c.Final = s.final
	}
	return c, nil
}

// Wait implements Stream.
func (s *stream) Wait(ctx context.Context) Output {
	if s.final == nil {
		out := s.ids.Wait(ctx)
		s.session.Push(out.TokenIDs[s.read:])
		s.end(out)
	}
	return *s.final
}

// end ends the text and gives what was still held back.
func (s *stream) end(out engine.Output) (rest string) {
	rest = s.session.Finish()
	s.final = &Output{Output: out, Text: s.session.Text(), Stopped: s.session.Stopped()}
	return rest
}
