package engine

import (
	"fmt"
	"strconv"
)

// Hints say what will be asked of an engine. A zero is no hint.
type Hints struct {
	MaxPrompt int // tokens of the longest prompt
	MaxNew    int // tokens that the longest request generates
	Requests  int // sequences of one prompt each for itself
}

// HintsOf are the hints that a list of requests gives.
func HintsOf(requests []Request) Hints {
	var h Hints
	for _, r := range requests {
		h.Requests = min(h.Requests+r.sequences(), maxHint)
		h.MaxPrompt, h.MaxNew = max(h.MaxPrompt, min(len(r.PromptIDs), maxHint)), max(h.MaxNew, min(r.MaxNewTokens, maxHint))
	}
	return h
}

// maxHint bounds each hint, so that sums do not overflow.
const maxHint = 1 << 30

// MarshalText implements encoding.TextMarshaler.
func (h Hints) MarshalText() ([]byte, error) {
	return fmt.Appendf(nil, "max_prompt=%d,max_new=%d,requests=%d", h.MaxPrompt, h.MaxNew, h.Requests), nil
}

// UnmarshalText implements encoding.TextUnmarshaler: some of
// max_prompt=N,max_new=N,requests=N.
func (h *Hints) UnmarshalText(text []byte) error {
	var read Hints
	fields := map[string]*int{"max_prompt": &read.MaxPrompt, "max_new": &read.MaxNew, "requests": &read.Requests}
	err := parsePairs(string(text), func(name, value string) error {
		p, known := fields[name]
		if !known {
			return fmt.Errorf("%.40q is none of max_prompt, max_new, requests", name)
		}
		n, err := strconv.Atoi(value)
		if err != nil {
			return fmt.Errorf("%s is %.40q, no whole number", name, value)
		}
		*p = n
		return nil
	})
	if err != nil {
		return err
	}
	*h = read
	return h.check()
}

func (h Hints) check() error {
	for _, n := range []int{h.MaxPrompt, h.MaxNew, h.Requests} {
		if n < 0 || n > maxHint {
			return fmt.Errorf("%d is out of range: hints are from 0 to %d", n, maxHint)
		}
	}
	return nil
}
