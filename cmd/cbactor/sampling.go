package main

import (
	"fmt"
	"strings"

	"github.com/cbactor/cbactor/sampling"
)

// drawn says how tokens are drawn, and for what is random how to have it again.
// overridable: requests may have settings of their own.
func drawn(p sampling.Params, seed uint64, overridable bool) string {
	s := described(p)
	if overridable {
		s += " where a request says nothing else"
	}
	if p.Greedy() && !overridable {
		return s
	}
	return fmt.Sprintf("%s; --seed %d repeats it", s, seed)
}

// described are parameters in words.
func described(p sampling.Params) string {
	var b strings.Builder
	if p.Greedy() {
		b.WriteString("greedy")
	} else {
		fmt.Fprintf(&b, "temperature %g", p.Temperature)
	}
	say := func(name string, value float32, is bool) {
		if is {
			fmt.Fprintf(&b, ", %s %g", name, value)
		}
	}
	random := !p.Greedy()
	say("top-k", float32(p.TopK), random && p.TopK > 0)
	say("top-p", p.TopP, random && p.TopP > 0 && p.TopP < 1)
	say("min-p", p.MinP, random && p.MinP > 0)
	say("typical-p", p.TypicalP, random && p.TypicalP > 0 && p.TypicalP < 1)
	say("repetition-penalty", p.RepetitionPenalty, p.RepetitionPenalty != 0 && p.RepetitionPenalty != 1)
	say("presence-penalty", p.PresencePenalty, p.PresencePenalty != 0)
	say("frequency-penalty", p.FrequencyPenalty, p.FrequencyPenalty != 0)
	say("no-repeat-ngram", float32(p.NoRepeatNgram), p.NoRepeatNgram > 0)
	for _, more := range []struct {
		name string
		is   bool
	}{{"logit-bias", len(p.Bias) > 0}, {"bad-words", len(p.BadWords) > 0}, {"allowed-ids", len(p.Allowed) > 0}} {
		if more.is {
			b.WriteString(", with " + more.name)
		}
	}
	return b.String()
}
