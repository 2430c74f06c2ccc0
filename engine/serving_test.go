package engine

import (
	"bytes"
	"encoding/json"
	"sync/atomic"

	"github.com/cbactor/cbactor/internal/trace"
)

// serving reads in a trace which epoch the next plan computes with.
type serving struct {
	epoch atomic.Uint32
	rest  []byte // of a line that is not whole
}

// Write implements io.Writer.
func (s *serving) Write(p []byte) (int, error) {
	s.rest = append(s.rest, p...)
	for {
		line, rest, whole := bytes.Cut(s.rest, []byte("\n"))
		if !whole {
			return len(p), nil
		}
		var e struct { // of the header and events
			Kind  trace.Kind `json:"event"`
			Epoch uint32     `json:"epoch"`
		}
		if err := json.Unmarshal(line, &e); err != nil {
			return 0, err
		}
		if e.Kind == trace.Weights {
			s.epoch.Store(e.Epoch)
		}
		s.rest = rest
	}
}

// Close implements io.Closer.
func (s *serving) Close() error { return nil }
