package convert

import (
	"github.com/cbactor/cbactor/messages"
	"github.com/cbactor/cbactor/sampling"
)

// Drawn is what is told of tokens.
func Drawn(list []sampling.Drawn) []*messages.Drawn {
	if len(list) == 0 {
		return nil
	}
	out := make([]*messages.Drawn, len(list))
	for i, d := range list {
		out[i] = logprob(d.Logprob)
		out[i].Kept, out[i].KeptCount = d.Kept, d.KeptCount
		for _, t := range d.Top {
			out[i].Top = append(out[i].Top, logprob(t))
		}
	}
	return out
}

func logprob(l sampling.Logprob) *messages.Drawn {
	return &messages.Drawn{Id: l.ID, Raw: l.Raw, Sampled: l.Sampled}
}

// DrawnOf reads it. An empty list is nil.
func DrawnOf(list []*messages.Drawn) ([]sampling.Drawn, error) {
	if len(list) == 0 {
		return nil, nil
	}
	out := make([]sampling.Drawn, len(list))
	for i, m := range list {
		if len(m.GetTop()) > sampling.MaxTop || len(m.GetKept()) > sampling.MaxKept {
			return nil, malformed("of a token %d others and %d kept ones are told, there may be %d and %d", len(m.GetTop()), len(m.GetKept()), sampling.MaxTop, sampling.MaxKept)
		}
		d := sampling.Drawn{Logprob: logprobOf(m), Kept: m.GetKept(), KeptCount: m.GetKeptCount()}
		if n := len(m.GetTop()); n > 0 {
			d.Top = make([]sampling.Logprob, n)
		}
		for k, t := range m.GetTop() {
			d.Top[k] = logprobOf(t)
		}
		out[i] = d
	}
	return out, nil
}

func logprobOf(m *messages.Drawn) sampling.Logprob {
	return sampling.Logprob{ID: m.GetId(), Raw: m.GetRaw(), Sampled: m.GetSampled()}
}

// Sizes of a Drawn in a message: of its numbers, and of each kept id, at most.
const (
	logprobBytes = 24
	idBytes      = 5
)

// DrawnBytes is about how large a message of it is, never less.
func DrawnBytes(d sampling.Drawn) int {
	return logprobBytes*(1+len(d.Top)) + idBytes*(2+len(d.Kept))
}
