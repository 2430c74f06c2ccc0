package server

import (
	"context"
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
