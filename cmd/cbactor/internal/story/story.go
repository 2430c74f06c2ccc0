package story

import (
	"errors"
	"io"

	"github.com/cbactor/cbactor/internal/trace"
)

// Story is one request with its events.
type Story struct {
	Request
	Header trace.Header
	Events []trace.Event // its own, and those of the engine while it was open

	history *history // of the whole trace
}

// Read reads a trace to its end and gives the stories of an id, more than one if the
// id was used again, none if it is unknown. ids are all that there are.
func Read(in *trace.Reader, id string) (stories []*Story, ids []string, err error) {
	seen := map[string]struct{}{}
	history := newHistory()
	var s *Story // the last one
	for {
		e, err := in.Next()
		if errors.Is(err, io.EOF) {
			return stories, ids, nil
		}
		if err != nil {
			return nil, nil, err
		}
		if _, known := seen[e.ID]; !known && e.ID != "" {
			seen[e.ID] = struct{}{}
			ids = append(ids, e.ID)
		}
		if e.Kind == trace.Weights {
			history.add(e)
		}
		switch {
		case e.ID == "" && s != nil && !s.ended:
			s.Events = append(s.Events, e)
		case e.ID == id && id != "":
			if s == nil || s.ended || e.Kind == trace.Queued {
				s = &Story{Request: *begin(e), Header: in.Header, history: history}
				stories = append(stories, s)
			}
			s.add(e)
			s.Events = append(s.Events, e)
		}
	}
}
