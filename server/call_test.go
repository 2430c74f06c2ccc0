package server

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/texts"
)

// endedStream is a sequence that has ended.
type endedStream struct {
	texts.Stream
	reason engine.FinishReason
}

func (s endedStream) Wait(context.Context) texts.Output {
	return texts.Output{Output: engine.Output{FinishReason: s.reason}}
}

func (s endedStream) Recv(ctx context.Context) (texts.Chunk, error) {
	out := s.Wait(ctx)
	return texts.Chunk{Final: &out}, nil
}

// What ends with the call's context is told why that has ended, also where it has ended before
// the reader sees that; what somebody else has cancelled ends as such.
func TestCutOffAtTheEnd(t *testing.T) {
	for _, sequences := range []int{1, 2} {
		for _, cause := range []error{errShutdown, nil} {
			c := &call{account: &account{asked: &texts.Request{}, meters: &sequenceMeters{}}, ended: make([]bool, sequences)}
			for range sequences {
				c.open = append(c.open, endedStream{reason: engine.FinishCancelled})
			}
			ctx, cancel := context.WithCancelCause(t.Context())
			if cause != nil {
				cancel(cause)
			}
			told := 0
			err := c.follow(ctx, func(int, texts.Chunk) error { told++; return nil })
			if !errors.Is(err, cause) || cause != nil && told > 0 || cause == nil && told != sequences {
				t.Errorf("%d sequences: %d chunks were told, and %v, want %v", sequences, told, err, cause)
			}
			cancel(nil)
		}
	}
}

// Each sequence that nobody has read to its end is accounted for, once, and by its own end.
func TestSettle(t *testing.T) {
	c := &call{
		account: &account{asked: &texts.Request{}, meters: &sequenceMeters{}},
		open:    []texts.Stream{endedStream{reason: engine.FinishStop}, endedStream{reason: engine.FinishLength}, endedStream{reason: engine.FinishAborted}},
		ended:   []bool{true, false, false},
	}
	for range 2 {
		c.settle(t.Context())
		want := map[string]int{string(engine.FinishLength): 1, string(engine.FinishAborted): 1}
		if !maps.Equal(c.account.finishes, want) || slices.Contains(c.ended, false) {
			t.Errorf("%v, want %v; ended %v", c.account.finishes, want, c.ended)
		}
	}
}
