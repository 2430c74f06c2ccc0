package story

import (
	"fmt"

	"github.com/cbactor/cbactor/cmd/cbactor/internal/words"
	"github.com/cbactor/cbactor/internal/trace"
)

// history is the weights of a trace.
type history struct {
	names  map[uint32]string // by epoch, as they are told
	again  map[uint32]bool   // of a version that has served before
	served map[string]struct{}
}

func newHistory() *history {
	return &history{names: map[uint32]string{}, again: map[uint32]bool{}, served: map[string]struct{}{}}
}

// add takes the next weights.
func (h *history) add(e trace.Event) {
	if e.Version == "" {
		return
	}
	h.names[e.Epoch] = Printable(e.Version)
	_, h.again[e.Epoch] = h.served[e.Version]
	h.served[e.Version] = struct{}{}
}

// name is what the weights of an epoch are called.
func (h *history) name(epoch uint32) string {
	if told := h.names[epoch]; told != "" {
		return "weights " + told
	}
	return fmt.Sprintf("weights of epoch %d", epoch)
}

// weights tells of other weights, and which of the request's tokens is the first that they
// may sample: no step that was handed over before samples it.
func (t *teller) weights(e trace.Event) string {
	told := t.story.history.name(e.Epoch)
	if t.story.history.again[e.Epoch] {
		told += " again,"
	}
	next := max(1, t.computed-t.story.Prompt+2)
	if t.story.ended && next > t.story.Generated {
		return told + " too late for any of its tokens"
	}
	return fmt.Sprintf("%s from token %d on", told, next)
}

// modes tells of the engine's mode. A pause or a sleep is told once, with its end.
func (t *teller) modes(i int, e trace.Event) {
	before := t.mode
	t.mode = e.Mode
	switch {
	case e.Mode == before: // a holder came or went
	case still(e.Mode):
		t.say(e.Micros, "%s", t.stood(i, e))
	case !still(before) || e.Mode != "running":
		t.say(e.Micros, "the engine was set to %s", Printable(e.Mode))
	}
}

// still tells that no step runs in a mode.
func still(mode string) bool { return mode == "paused" || mode == "sleeping" }

// stood says how long the engine stood still from event number i on, and for how many.
func (t *teller) stood(i int, e trace.Event) string {
	told, holders := "the engine is "+e.Mode+" where the trace ends", e.Holders
	if t.story.ended {
		told = "the engine was " + e.Mode + ", and still when the request ended"
	}
	for _, next := range t.story.Events[i+1:] {
		if next.Kind != trace.Mode {
			continue
		}
		if next.Mode != e.Mode {
			told = "the engine was " + e.Mode + " for " + Seconds(next.Micros-e.Micros)
			break
		}
		holders = max(holders, next.Holders)
	}
	if holders > 0 {
		told += ", by " + words.Count(holders, "holder")
	}
	return told
}
